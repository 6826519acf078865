CREATE TABLE `session` (
          `id` text PRIMARY KEY,
          `project_id` text NOT NULL,
          `workspace_id` text,
          `parent_id` text,
          `slug` text NOT NULL,
          `directory` text NOT NULL,
          `path` text,
          `title` text NOT NULL,
          `version` text NOT NULL,
          `share_url` text,
          `summary_additions` integer,
          `summary_deletions` integer,
          `summary_files` integer,
          `summary_diffs` text,
          `metadata` text,
          `cost` real DEFAULT 0 NOT NULL,
          `tokens_input` integer DEFAULT 0 NOT NULL,
          `tokens_output` integer DEFAULT 0 NOT NULL,
          `tokens_reasoning` integer DEFAULT 0 NOT NULL,
          `tokens_cache_read` integer DEFAULT 0 NOT NULL,
          `tokens_cache_write` integer DEFAULT 0 NOT NULL,
          `revert` text,
          `permission` text,
          `agent` text,
          `model` text,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `time_compacting` integer,
          `time_archived` integer
        );
INSERT INTO session VALUES ('ses_dfdff04dcffeRkFTm0FqI7aA1a','global',NULL,NULL,'nimble-planet','/home/me/work','','A short title','1.18.33',NULL,0,0,0,NULL,NULL,0.0,3600,102,0,0,0,NULL,NULL,'build','{"id":"stub-model","providerID":"stub"}',1795329948451,1795329957597,NULL,NULL);
CREATE TABLE `message` (
          `id` text PRIMARY KEY,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_message_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
INSERT INTO message VALUES ('msg_20200fb38001nQQmNLePfAqYNi','ses_dfdff04dcffeRkFTm0FqI7aA1a',1795329948472,1795329951542,'{"role":"user","time":{"created":1795329948472},"agent":"build","model":{"providerID":"stub","modelID":"stub-model"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES ('msg_20200fb4f001mCyLPeCzmHWzMm','ses_dfdff04dcffeRkFTm0FqI7aA1a',1795329948495,1795329951325,'{"parentID":"msg_20200fb38001nQQmNLePfAqYNi","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/work","root":"/home/me/work"},"cost":0,"tokens":{"total":1234,"input":1200,"output":34,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"stub-model","providerID":"stub","time":{"created":1795329948495,"completed":1795329951324},"finish":"stop"}');
INSERT INTO message VALUES ('msg_202010bfb0012LQRvO3t1oIQxo','ses_dfdff04dcffeRkFTm0FqI7aA1a',1795329952763,1795329953342,'{"role":"user","time":{"created":1795329952763},"agent":"build","model":{"providerID":"stub","modelID":"stub-model"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES ('msg_202010c1c001R8Cdbo8CVT3aqF','ses_dfdff04dcffeRkFTm0FqI7aA1a',1795329952796,1795329953130,'{"parentID":"msg_202010bfb0012LQRvO3t1oIQxo","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/work","root":"/home/me/work"},"cost":0,"tokens":{"total":1234,"input":1200,"output":34,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"stub-model","providerID":"stub","time":{"created":1795329952796,"completed":1795329953129},"finish":"stop"}');
INSERT INTO message VALUES ('msg_202011c97001OYKeo1wP6RA6Cy','ses_dfdff04dcffeRkFTm0FqI7aA1a',1795329957015,1795329957784,'{"role":"user","time":{"created":1795329957015},"agent":"build","model":{"providerID":"stub","modelID":"stub-model"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES ('msg_202011cb100138rziotfLg1uzo','ses_dfdff04dcffeRkFTm0FqI7aA1a',1795329957041,1795329957559,'{"parentID":"msg_202011c97001OYKeo1wP6RA6Cy","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/work","root":"/home/me/work"},"cost":0,"tokens":{"total":1234,"input":1200,"output":34,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"stub-model","providerID":"stub","time":{"created":1795329957041,"completed":1795329957558},"finish":"stop"}');
CREATE TABLE `part` (
          `id` text PRIMARY KEY,
          `message_id` text NOT NULL,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_part_message_id_message_id_fk` FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE
        );
INSERT INTO part VALUES ('prt_20200fb3b001TShapjGzXX5Gx9','msg_20200fb38001nQQmNLePfAqYNi','ses_dfdff04dcffeRkFTm0FqI7aA1a',1795329948480,1795329948482,'{"type":"text","text":"SAY: hello there"}');
INSERT INTO part VALUES ('prt_2020105990016Nc5bIA2ijyc4A','msg_20200fb4f001mCyLPeCzmHWzMm','ses_dfdff04dcffeRkFTm0FqI7aA1a',1795329951129,1795329951130,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO part VALUES ('prt_20201059c001S20cpnqFgwtPEi','msg_20200fb4f001mCyLPeCzmHWzMm','ses_dfdff04dcffeRkFTm0FqI7aA1a',1795329951132,1795329951135,'{"type":"text","text":"hello there","time":{"start":1795329951132,"end":1795329951135}}');
INSERT INTO part VALUES ('prt_20201060a001MWpAt0OJofw316','msg_20200fb4f001mCyLPeCzmHWzMm','ses_dfdff04dcffeRkFTm0FqI7aA1a',1795329951242,1795329951243,'{"reason":"stop","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1234,"input":1200,"output":34,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
INSERT INTO part VALUES ('prt_202010c02001AZvOHdkAn7Qv3M','msg_202010bfb0012LQRvO3t1oIQxo','ses_dfdff04dcffeRkFTm0FqI7aA1a',1795329952778,1795329952779,'{"type":"text","text":"SAY: second"}');
INSERT INTO part VALUES ('prt_202010c7d001u3ZARfZVJuRV8o','msg_202010c1c001R8Cdbo8CVT3aqF','ses_dfdff04dcffeRkFTm0FqI7aA1a',1795329952893,1795329952894,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO part VALUES ('prt_202010c81001GWOFlUJtLqUB30','msg_202010c1c001R8Cdbo8CVT3aqF','ses_dfdff04dcffeRkFTm0FqI7aA1a',1795329952897,1795329952910,'{"type":"text","text":"second","time":{"start":1795329952897,"end":1795329952905}}');
INSERT INTO part VALUES ('prt_202010cea0019b1F4f2gn7CMVH','msg_202010c1c001R8Cdbo8CVT3aqF','ses_dfdff04dcffeRkFTm0FqI7aA1a',1795329953002,1795329953004,'{"reason":"stop","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1234,"input":1200,"output":34,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
INSERT INTO part VALUES ('prt_202011c98001GBa7UUEEzC4rPz','msg_202011c97001OYKeo1wP6RA6Cy','ses_dfdff04dcffeRkFTm0FqI7aA1a',1795329957022,1795329957023,'{"type":"text","text":"SAY: last words"}');
INSERT INTO part VALUES ('prt_202011dd8001HsfhRRHixXPdjf','msg_202011cb100138rziotfLg1uzo','ses_dfdff04dcffeRkFTm0FqI7aA1a',1795329957337,1795329957338,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO part VALUES ('prt_202011ddb0012YkBDUKAnK74tL','msg_202011cb100138rziotfLg1uzo','ses_dfdff04dcffeRkFTm0FqI7aA1a',1795329957339,1795329957357,'{"type":"text","text":"last words","time":{"start":1795329957339,"end":1795329957351}}');
INSERT INTO part VALUES ('prt_202011e39001rBEQfNrAhRcg3J','msg_202011cb100138rziotfLg1uzo','ses_dfdff04dcffeRkFTm0FqI7aA1a',1795329957433,1795329957434,'{"reason":"stop","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1234,"input":1200,"output":34,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
