"""What is uploaded is read in memory up to the largest file that is taken, and never written to a disk."""

from io import BytesIO
from typing import Any

from django.core.files.uploadedfile import InMemoryUploadedFile
from django.core.files.uploadhandler import FileUploadHandler

from jobs.procedure.own_prompts import MOST_BYTES


class BoundedUpload(FileUploadHandler):
    """A file larger than that is let go while it comes, and its size alone is told, for the form to refuse."""

    def new_file(self, *args: Any, **options: Any) -> None:
        super().new_file(*args, **options)
        self._content = BytesIO()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        if start + len(raw_data) > MOST_BYTES:
            self._content = BytesIO()
        else:
            self._content.write(raw_data)

    def file_complete(self, file_size: int) -> InMemoryUploadedFile:
        self._content.seek(0)
        return InMemoryUploadedFile(
            file=self._content,
            field_name=self.field_name,
            name=self.file_name,
            content_type=self.content_type,
            size=file_size,
            charset=self.charset,
            content_type_extra=self.content_type_extra,
        )
