-- The audit log in parts (audit/model.py): each has its own bound, so that ordinary entries displace no
-- sign-in, right, token, approval or deletion.  The keyed hashes go: their key lay beside the data.
CREATE TABLE audit_log_in_parts (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    method TEXT NOT NULL,
    address TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    detail TEXT NOT NULL,
    part TEXT NOT NULL
) STRICT;
INSERT INTO audit_log_in_parts
    SELECT seq, at, actor, method, address, action, target, detail,
        CASE
            WHEN action IN ('login', 'login.failed', 'POST /api/logout', 'POST /api/auth/revoke')
                THEN 'sign-ins'
            WHEN json_extract(detail, '$.error') IN ('INVALID_INPUT', 'UNAUTHORIZED', 'FORBIDDEN',
                'PASSWORD_CHANGE_REQUIRED', 'NOT_FOUND', 'USER_NOT_FOUND', 'SESSION_BUSY', 'CONFLICT',
                'ALREADY_EXISTS', 'USER_EXISTS', 'LAST_ADMIN', 'PAYLOAD_TOO_LARGE', 'RATE_LIMITED')
                THEN 'ordinary'
            WHEN action LIKE '% /api/tokens%' THEN 'tokens'
            WHEN action LIKE '% /api/approvals/{item}/%' THEN 'approvals'
            WHEN action LIKE '% /api/admin/%' OR action LIKE '% /api/me/password'
                OR action LIKE '% /api/settings' THEN 'rights'
            WHEN action LIKE 'DELETE %' THEN 'deletions'
            ELSE 'ordinary'
        END
    FROM audit_log;
DROP TABLE audit_log;
ALTER TABLE audit_log_in_parts RENAME TO audit_log;
CREATE INDEX audit_log_by_part ON audit_log (part, actor, seq);
