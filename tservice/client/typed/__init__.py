"""Operations and records of the API as Python types.

C{tools/generated.py} writes the other modules from C{docs/openapi.json}; they are not committed.
"""
