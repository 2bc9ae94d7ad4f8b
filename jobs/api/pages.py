"""Lists, a page at a time."""

from rest_framework.pagination import PageNumberPagination


class Pages(PageNumberPagination):
    """?page=2&page_size=50: {"count", "next", "previous", "results"}; a page that is not there is a 404."""

    page_size = 25
    page_size_query_param = "page_size"
    max_page_size = 100
