-- Where a case is that is not on this machine (protocol-remote): the kind of the place, which
-- one, and which part of that; its path is the one that it has there.
ALTER TABLE cases ADD COLUMN far_kind TEXT;
ALTER TABLE cases ADD COLUMN far_name TEXT;
ALTER TABLE cases ADD COLUMN far_part TEXT;
