# One image for every part of the portal; docker-compose.yml says which part a container is.
FROM python:3.11-slim

# g++ compiles quanto's extension below.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ \
    && rm -rf /var/lib/apt/lists/*

ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /app

# torch on its own layer: the largest part, and it changes least. The plain wheel is the CUDA build;
# --build-arg TORCH_INDEX=URL chooses another index, such as one of CPU builds.
ARG TORCH_INDEX=""
COPY requirements/torch.txt requirements/
RUN pip install ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} -r requirements/torch.txt

COPY requirements/measuring.txt requirements/portal.txt requirements/
RUN pip install -c requirements/torch.txt -r requirements/measuring.txt -r requirements/portal.txt

# Compiled here, never inside a measured call.
RUN python -c "import torch, optimum.quanto; torch.ops.quanto.unpack(torch.arange(16, dtype=torch.uint8), 4)"

RUN useradd --create-home --uid 10001 portal && install -d -o portal /data /home/portal/.cache /home/portal/.cache/huggingface
COPY manage.py ./
COPY kvportal kvportal
COPY jobs jobs
COPY templates templates
COPY static static
ENV DATA=/data STATIC_ROOT=/app/staticfiles
RUN SECRET_KEY=only-for-this-step python manage.py collectstatic --noinput

USER 10001
VOLUME /data
EXPOSE 8000
ENTRYPOINT ["python", "manage.py"]
CMD ["up", "--host", "0.0.0.0"]
