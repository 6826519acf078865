-- Where the listener for hooks from containers is: sessions in them know its address for good.
CREATE TABLE container_bridges (
    engine TEXT PRIMARY KEY,
    address TEXT NOT NULL,
    port INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
