-- Who sent it: their right to type is looked at again before it is typed (protocol-wake).
ALTER TABLE input_buffer ADD COLUMN sender TEXT;
