"""What a client is told when a request cannot be answered."""

from collections.abc import Mapping

KINDS = {
    400: "bad request",
    404: "not found",
    405: "method not allowed",
    408: "request timeout",
    413: "too large",
    415: "unsupported media type",
    421: "misdirected request",
    422: "bad example",
    500: "internal error",
    503: "busy",
    504: "timeout",
}


class RequestError(Exception):
    """The end of a request that cannot be answered: status, message, and headers that belong to it."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None):
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = dict(headers or {})

    def body(self) -> dict[str, object]:
        """The answer as JSON values.

        >>> RequestError(404, "there is no /x")
        RequestError('there is no /x')
        >>> RequestError(404, "there is no /x").body()
        {'error': {'status': 404, 'type': 'not found', 'message': 'there is no /x'}}
        """
        return {"error": {"status": self.status, "type": KINDS.get(self.status, "error"), "message": self.message}}
