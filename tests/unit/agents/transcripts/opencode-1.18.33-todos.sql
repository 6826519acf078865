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
INSERT INTO session VALUES ('ses_df9699048ffeydfs741mimOzYd','global',NULL,NULL,'kind-canyon','/home/me/work','','You said: TOOL: todowrite {"todos":[{"content":"Look at the door","sta','1.18.33',NULL,0,0,0,NULL,NULL,0.0,2400,68,0,0,0,NULL,NULL,'build','{"id":"stub-model","providerID":"stub"}',1795406852024,1795406861449,NULL,NULL);
CREATE TABLE `message` (
          `id` text PRIMARY KEY,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_message_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
INSERT INTO message VALUES ('msg_206967071001r6fFT4Bz8ytR0y','ses_df9699048ffeydfs741mimOzYd',1795406852209,1795406861700,'{"role":"user","time":{"created":1795406852209},"agent":"build","model":{"providerID":"stub","modelID":"stub-model"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES ('msg_2069670f7001YhAp4vVY75dbIY','ses_df9699048ffeydfs741mimOzYd',1795406852343,1795406860076,'{"parentID":"msg_206967071001r6fFT4Bz8ytR0y","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/work","root":"/home/me/work"},"cost":0,"tokens":{"total":1234,"input":1200,"output":34,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"stub-model","providerID":"stub","time":{"created":1795406852343,"completed":1795406860075},"finish":"tool-calls"}');
INSERT INTO message VALUES ('msg_206968f44001Wnc2fgv5H9l5fq','ses_df9699048ffeydfs741mimOzYd',1795406860100,1795406861428,'{"parentID":"msg_206967071001r6fFT4Bz8ytR0y","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/work","root":"/home/me/work"},"cost":0,"tokens":{"total":1234,"input":1200,"output":34,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"stub-model","providerID":"stub","time":{"created":1795406860100,"completed":1795406861427},"finish":"stop"}');
CREATE TABLE `part` (
          `id` text PRIMARY KEY,
          `message_id` text NOT NULL,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_part_message_id_message_id_fk` FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE
        );
INSERT INTO part VALUES ('prt_206967074001x9nFNtiiMYk7wU','msg_206967071001r6fFT4Bz8ytR0y','ses_df9699048ffeydfs741mimOzYd',1795406852239,1795406852257,'{"type":"text","text":"TOOL: todowrite {\"todos\":[{\"content\":\"Look at the door\",\"status\":\"completed\",\"priority\":\"high\"},{\"content\":\"Paint the door\",\"status\":\"in_progress\",\"priority\":\"medium\"},{\"content\":\"Let it dry\",\"status\":\"pending\",\"priority\":\"low\"},{\"content\":\"Sell it\",\"status\":\"cancelled\",\"priority\":\"low\"}]} "}');
INSERT INTO part VALUES ('prt_206968b01001b4i4079WmXGL7I','msg_2069670f7001YhAp4vVY75dbIY','ses_df9699048ffeydfs741mimOzYd',1795406859009,1795406859011,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO part VALUES ('prt_206968b5e001ZS9pbDmn7U3HIr','msg_2069670f7001YhAp4vVY75dbIY','ses_df9699048ffeydfs741mimOzYd',1795406859102,1795406859282,'{"type":"tool","tool":"todowrite","callID":"call_00000000000000000002","state":{"status":"completed","input":{"todos":[{"content":"Look at the door","status":"completed","priority":"high"},{"content":"Paint the door","status":"in_progress","priority":"medium"},{"content":"Let it dry","status":"pending","priority":"low"},{"content":"Sell it","status":"cancelled","priority":"low"}]},"output":"[\n  {\n    \"content\": \"Look at the door\",\n    \"status\": \"completed\",\n    \"priority\": \"high\"\n  },\n  {\n    \"content\": \"Paint the door\",\n    \"status\": \"in_progress\",\n    \"priority\": \"medium\"\n  },\n  {\n    \"content\": \"Let it dry\",\n    \"status\": \"pending\",\n    \"priority\": \"low\"\n  },\n  {\n    \"content\": \"Sell it\",\n    \"status\": \"cancelled\",\n    \"priority\": \"low\"\n  }\n]","metadata":{"todos":[{"content":"Look at the door","status":"completed","priority":"high"},{"content":"Paint the door","status":"in_progress","priority":"medium"},{"content":"Let it dry","status":"pending","priority":"low"},{"content":"Sell it","status":"cancelled","priority":"low"}],"truncated":false},"title":"3 todos","time":{"start":1795406859275,"end":1795406859280}}}');
INSERT INTO part VALUES ('prt_206968de9001uRFdLzN2JDvLCY','msg_2069670f7001YhAp4vVY75dbIY','ses_df9699048ffeydfs741mimOzYd',1795406859754,1795406859757,'{"reason":"tool-calls","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1234,"input":1200,"output":34,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
INSERT INTO part VALUES ('prt_2069692540014E0RjFG917cChx','msg_206968f44001Wnc2fgv5H9l5fq','ses_df9699048ffeydfs741mimOzYd',1795406860884,1795406860890,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO part VALUES ('prt_20696925c001skvsioXrq4fNX2','msg_206968f44001Wnc2fgv5H9l5fq','ses_df9699048ffeydfs741mimOzYd',1795406860892,1795406860910,'{"type":"text","text":"Done with the tool.","time":{"start":1795406860892,"end":1795406860904}}');
INSERT INTO part VALUES ('prt_206969405001OaHnrmOqaG2RMt','msg_206968f44001Wnc2fgv5H9l5fq','ses_df9699048ffeydfs741mimOzYd',1795406861318,1795406861326,'{"reason":"stop","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1234,"input":1200,"output":34,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
CREATE TABLE `todo` (
          `session_id` text NOT NULL,
          `content` text NOT NULL,
          `status` text NOT NULL,
          `priority` text NOT NULL,
          `position` integer NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          CONSTRAINT `todo_pk` PRIMARY KEY(`session_id`, `position`),
          CONSTRAINT `fk_todo_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
INSERT INTO todo VALUES ('ses_df9699048ffeydfs741mimOzYd','Look at the door','completed','high',0,1795406859210,1795406859210);
INSERT INTO todo VALUES ('ses_df9699048ffeydfs741mimOzYd','Paint the door','in_progress','medium',1,1795406859210,1795406859210);
INSERT INTO todo VALUES ('ses_df9699048ffeydfs741mimOzYd','Let it dry','pending','low',2,1795406859210,1795406859210);
INSERT INTO todo VALUES ('ses_df9699048ffeydfs741mimOzYd','Sell it','cancelled','low',3,1795406859210,1795406859210);
