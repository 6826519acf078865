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
INSERT INTO session VALUES ('ses_de0bc6a21ffeAZtnqMHUE6NuKI','global',NULL,NULL,'proud-garden','/home/me/work','tmp/tw-jcqb9_t0/work','A short title','1.18.33',NULL,0,0,0,NULL,NULL,0.0,6000,170,0,0,0,NULL,NULL,'build','{"id":"stub-model","providerID":"stub"}',1795820852702,1795820864284,NULL,NULL);
INSERT INTO session VALUES ('ses_de0bc4a80ffeqDH1MRTJGFOdwu','global',NULL,'ses_de0bc6a21ffeAZtnqMHUE6NuKI','nimble-falcon','/home/me/work','tmp/tw-jcqb9_t0/work','look (@general subagent)','1.18.33',NULL,0,0,0,NULL,NULL,0.0,1200,34,0,0,0,NULL,'[{"permission":"task","pattern":"*","action":"deny"}]','general','{"id":"stub-model","providerID":"stub","variant":"default"}',1795820860799,1795820861046,NULL,NULL);
INSERT INTO session VALUES ('ses_de0bc1891ffe8zCnOK7XW2gSt7','global',NULL,NULL,'silent-otter','/home/me/work','tmp/tw-jcqb9_t0/work','A short title (fork #1)','1.18.33',NULL,0,0,0,NULL,NULL,0.0,7200,204,0,0,0,NULL,NULL,'build','{"id":"stub-model","providerID":"stub","variant":"default"}',1795820873582,1795820875382,NULL,NULL);
CREATE TABLE `message` (
          `id` text PRIMARY KEY,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL
        );
INSERT INTO message VALUES ('msg_21f4397ae001Gnu0OeZCGOOubD','ses_de0bc6a21ffeAZtnqMHUE6NuKI',1795820853166,1795820854524,'{"role":"user","time":{"created":1795820853166},"agent":"build","model":{"providerID":"stub","modelID":"stub-model"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES ('msg_21f4398f8001JszdcaXwf8v4ih','ses_de0bc6a21ffeAZtnqMHUE6NuKI',1795820853496,1795820854504,'{"parentID":"msg_21f4397ae001Gnu0OeZCGOOubD","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/work","root":"/"},"cost":0,"tokens":{"total":1234,"input":1200,"output":34,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"stub-model","providerID":"stub","time":{"created":1795820853496,"completed":1795820854503},"finish":"stop"}');
INSERT INTO message VALUES ('msg_21f43a830001ia9ns6vV27wXQg','ses_de0bc6a21ffeAZtnqMHUE6NuKI',1795820857394,1795820857777,'{"role":"user","time":{"created":1795820857394},"agent":"build","model":{"providerID":"stub","modelID":"stub-model"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES ('msg_21f43a86a001a5JpEQ7XBAfqWe','ses_de0bc6a21ffeAZtnqMHUE6NuKI',1795820857450,1795820857761,'{"parentID":"msg_21f43a830001ia9ns6vV27wXQg","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/work","root":"/"},"cost":0,"tokens":{"total":1234,"input":1200,"output":34,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"stub-model","providerID":"stub","time":{"created":1795820857450,"completed":1795820857760},"finish":"stop"}');
INSERT INTO message VALUES ('msg_21f43b4e9001jyeWP2RDPU2g25','ses_de0bc6a21ffeAZtnqMHUE6NuKI',1795820860649,1795820861245,'{"role":"user","time":{"created":1795820860649},"agent":"build","model":{"providerID":"stub","modelID":"stub-model"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES ('msg_21f43b524001bIBMDi5mbnnxxF','ses_de0bc6a21ffeAZtnqMHUE6NuKI',1795820860708,1795820861024,'{"parentID":"msg_21f43b4e9001jyeWP2RDPU2g25","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/work","root":"/"},"cost":0,"tokens":{"total":1234,"input":1200,"output":34,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"stub-model","providerID":"stub","time":{"created":1795820860708,"completed":1795820861023},"finish":"tool-calls"}');
INSERT INTO message VALUES ('msg_21f43b5900010MMFnRTA67OtrD','ses_de0bc4a80ffeqDH1MRTJGFOdwu',1795820860816,1795820861049,'{"role":"user","time":{"created":1795820860816},"agent":"general","model":{"providerID":"stub","modelID":"stub-model"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES ('msg_21f43b5bc001STVWGpKH2GEQ3R','ses_de0bc4a80ffeqDH1MRTJGFOdwu',1795820860860,1795820860990,'{"parentID":"msg_21f43b5900010MMFnRTA67OtrD","role":"assistant","mode":"general","agent":"general","path":{"cwd":"/home/me/work","root":"/"},"cost":0,"tokens":{"total":1234,"input":1200,"output":34,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"stub-model","providerID":"stub","time":{"created":1795820860860,"completed":1795820860989},"finish":"stop"}');
INSERT INTO message VALUES ('msg_21f43b6610016Sa5blJCZFFbJF','ses_de0bc6a21ffeAZtnqMHUE6NuKI',1795820861025,1795820861182,'{"parentID":"msg_21f43b4e9001jyeWP2RDPU2g25","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/work","root":"/"},"cost":0,"tokens":{"total":1234,"input":1200,"output":34,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"stub-model","providerID":"stub","time":{"created":1795820861025,"completed":1795820861182},"finish":"stop"}');
INSERT INTO message VALUES ('msg_21f43c1de001K0scN0BnVSR61X','ses_de0bc6a21ffeAZtnqMHUE6NuKI',1795820863966,1795820864321,'{"role":"user","time":{"created":1795820863966},"agent":"build","model":{"providerID":"stub","modelID":"stub-model"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES ('msg_21f43c21a001m7Zf4ZuCrEq3TH','ses_de0bc6a21ffeAZtnqMHUE6NuKI',1795820864026,1795820864266,'{"parentID":"msg_21f43c1de001K0scN0BnVSR61X","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/work","root":"/"},"cost":0,"tokens":{"total":1234,"input":1200,"output":34,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"stub-model","providerID":"stub","time":{"created":1795820864026,"completed":1795820864265},"finish":"stop"}');
INSERT INTO message VALUES ('msg_21f43e771001m7OSA7ZgOmDX7z','ses_de0bc1891ffe8zCnOK7XW2gSt7',1795820853166,1795820873585,'{"role":"user","time":{"created":1795820853166},"agent":"build","model":{"providerID":"stub","modelID":"stub-model"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES ('msg_21f43e7730011PeTJzrsokuomv','ses_de0bc1891ffe8zCnOK7XW2gSt7',1795820853496,1795820873587,'{"parentID":"msg_21f43e771001m7OSA7ZgOmDX7z","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/work","root":"/"},"cost":0,"tokens":{"total":1234,"input":1200,"output":34,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"stub-model","providerID":"stub","time":{"created":1795820853496,"completed":1795820854503},"finish":"stop"}');
INSERT INTO message VALUES ('msg_21f43e777001d5YgUy8vexdMtu','ses_de0bc1891ffe8zCnOK7XW2gSt7',1795820857394,1795820873591,'{"role":"user","time":{"created":1795820857394},"agent":"build","model":{"providerID":"stub","modelID":"stub-model"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES ('msg_21f43e778002acJeoiEaVXraVe','ses_de0bc1891ffe8zCnOK7XW2gSt7',1795820857450,1795820873593,'{"parentID":"msg_21f43e777001d5YgUy8vexdMtu","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/work","root":"/"},"cost":0,"tokens":{"total":1234,"input":1200,"output":34,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"stub-model","providerID":"stub","time":{"created":1795820857450,"completed":1795820857760},"finish":"stop"}');
INSERT INTO message VALUES ('msg_21f43e7830019mzrouY5CGajvM','ses_de0bc1891ffe8zCnOK7XW2gSt7',1795820860649,1795820873603,'{"role":"user","time":{"created":1795820860649},"agent":"build","model":{"providerID":"stub","modelID":"stub-model"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES ('msg_21f43e78a001tN71461LRcjmBh','ses_de0bc1891ffe8zCnOK7XW2gSt7',1795820860708,1795820873610,'{"parentID":"msg_21f43e7830019mzrouY5CGajvM","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/work","root":"/"},"cost":0,"tokens":{"total":1234,"input":1200,"output":34,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"stub-model","providerID":"stub","time":{"created":1795820860708,"completed":1795820861023},"finish":"tool-calls"}');
INSERT INTO message VALUES ('msg_21f43e792001x9wAG7uVYLeNKz','ses_de0bc1891ffe8zCnOK7XW2gSt7',1795820861025,1795820873618,'{"parentID":"msg_21f43e7830019mzrouY5CGajvM","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/work","root":"/"},"cost":0,"tokens":{"total":1234,"input":1200,"output":34,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"stub-model","providerID":"stub","time":{"created":1795820861025,"completed":1795820861182},"finish":"stop"}');
INSERT INTO message VALUES ('msg_21f43e7ba001grPPY6zmqcEwed','ses_de0bc1891ffe8zCnOK7XW2gSt7',1795820863966,1795820873659,'{"role":"user","time":{"created":1795820863966},"agent":"build","model":{"providerID":"stub","modelID":"stub-model"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES ('msg_21f43e808001fQa5qg8ZXtYwJ0','ses_de0bc1891ffe8zCnOK7XW2gSt7',1795820864026,1795820873737,'{"parentID":"msg_21f43e7ba001grPPY6zmqcEwed","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/work","root":"/"},"cost":0,"tokens":{"total":1234,"input":1200,"output":34,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"stub-model","providerID":"stub","time":{"created":1795820864026,"completed":1795820864265},"finish":"stop"}');
INSERT INTO message VALUES ('msg_21f43ee1d0011dyqR34rGJDqEF','ses_de0bc1891ffe8zCnOK7XW2gSt7',1795820875293,1795820875394,'{"role":"user","time":{"created":1795820875293},"agent":"build","model":{"providerID":"stub","modelID":"stub-model"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES ('msg_21f43ee26001m1aO11P2HaTA70','ses_de0bc1891ffe8zCnOK7XW2gSt7',1795820875302,1795820875366,'{"parentID":"msg_21f43ee1d0011dyqR34rGJDqEF","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/me/work","root":"/"},"cost":0,"tokens":{"total":1234,"input":1200,"output":34,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"stub-model","providerID":"stub","time":{"created":1795820875302,"completed":1795820875365},"finish":"stop"}');
CREATE TABLE `part` (
          `id` text PRIMARY KEY,
          `message_id` text NOT NULL,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL
        );
INSERT INTO part VALUES ('prt_21f4397e4001YegX5g6Dh3XCyT','msg_21f4397ae001Gnu0OeZCGOOubD','ses_de0bc6a21ffeAZtnqMHUE6NuKI',1795820853305,1795820853307,'{"type":"text","text":"SAY: one"}');
INSERT INTO part VALUES ('prt_21f439cd5001725Vh4YeHZ3lWR','msg_21f4398f8001JszdcaXwf8v4ih','ses_de0bc6a21ffeAZtnqMHUE6NuKI',1795820854486,1795820854494,'{"type":"text","text":"one","time":{"start":1795820854485,"end":1795820854493}}');
INSERT INTO part VALUES ('prt_21f43a836001KkEkk8yLdUkzAZ','msg_21f43a830001ia9ns6vV27wXQg','ses_de0bc6a21ffeAZtnqMHUE6NuKI',1795820857411,1795820857412,'{"type":"text","text":"SAY: two"}');
INSERT INTO part VALUES ('prt_21f43a98e001q0J7fbNHXjHFgy','msg_21f43a86a001a5JpEQ7XBAfqWe','ses_de0bc6a21ffeAZtnqMHUE6NuKI',1795820857742,1795820857748,'{"type":"text","text":"two","time":{"start":1795820857742,"end":1795820857748}}');
INSERT INTO part VALUES ('prt_21f43b4ec001wePeqWfH3y8kdX','msg_21f43b4e9001jyeWP2RDPU2g25','ses_de0bc6a21ffeAZtnqMHUE6NuKI',1795820860676,1795820860677,'{"type":"text","text":"TOOL: task {\"description\": \"look\", \"prompt\": \"SAY: from the ..."}');
INSERT INTO part VALUES ('prt_21f43b594001LLIyq6UuFpLjgo','msg_21f43b5900010MMFnRTA67OtrD','ses_de0bc4a80ffeqDH1MRTJGFOdwu',1795820860820,1795820860821,'{"type":"text","text":"SAY: from the sub agent"}');
INSERT INTO part VALUES ('prt_21f43b628001vzeZjhvTDcpeKY','msg_21f43b5bc001STVWGpKH2GEQ3R','ses_de0bc4a80ffeqDH1MRTJGFOdwu',1795820860968,1795820860973,'{"type":"text","text":"from the sub agent","time":{"start":1795820860968,"end":1795820860970}}');
INSERT INTO part VALUES ('prt_21f43b6c300123qaBIPK8j2S0d','msg_21f43b6610016Sa5blJCZFFbJF','ses_de0bc6a21ffeAZtnqMHUE6NuKI',1795820861123,1795820861150,'{"type":"text","text":"Done with the tool.","time":{"start":1795820861123,"end":1795820861149}}');
INSERT INTO part VALUES ('prt_21f43c1df001ZxFxY2SFe6WtEE','msg_21f43c1de001K0scN0BnVSR61X','ses_de0bc6a21ffeAZtnqMHUE6NuKI',1795820863999,1795820864011,'{"type":"text","text":"SAY: three"}');
INSERT INTO part VALUES ('prt_21f43c2ec001Bu96zyh7lfNFu2','msg_21f43c21a001m7Zf4ZuCrEq3TH','ses_de0bc6a21ffeAZtnqMHUE6NuKI',1795820864237,1795820864241,'{"type":"text","text":"three","time":{"start":1795820864236,"end":1795820864240}}');
INSERT INTO part VALUES ('prt_21f43e7720015VFtax845m2GfG','msg_21f43e771001m7OSA7ZgOmDX7z','ses_de0bc1891ffe8zCnOK7XW2gSt7',1795820873586,1795820873586,'{"type":"text","text":"SAY: one"}');
INSERT INTO part VALUES ('prt_21f43e774001VVBOpNe1u8mF0A','msg_21f43e7730011PeTJzrsokuomv','ses_de0bc1891ffe8zCnOK7XW2gSt7',1795820873588,1795820873589,'{"type":"text","text":"one","time":{"start":1795820854485,"end":1795820854493}}');
INSERT INTO part VALUES ('prt_21f43e778001mmIFmWVwSd5iW6','msg_21f43e777001d5YgUy8vexdMtu','ses_de0bc1891ffe8zCnOK7XW2gSt7',1795820873592,1795820873592,'{"type":"text","text":"SAY: two"}');
INSERT INTO part VALUES ('prt_21f43e77f001lAqGpDoWiK0anF','msg_21f43e778002acJeoiEaVXraVe','ses_de0bc1891ffe8zCnOK7XW2gSt7',1795820873599,1795820873601,'{"type":"text","text":"two","time":{"start":1795820857742,"end":1795820857748}}');
INSERT INTO part VALUES ('prt_21f43e789001GKTD4of8w8NAVL','msg_21f43e7830019mzrouY5CGajvM','ses_de0bc1891ffe8zCnOK7XW2gSt7',1795820873609,1795820873609,'{"type":"text","text":"TOOL: task {\"description\": \"look\", \"prompt\": \"SAY: from the ..."}');
INSERT INTO part VALUES ('prt_21f43e7b5001aU9Su9ysU2OWoK','msg_21f43e792001x9wAG7uVYLeNKz','ses_de0bc1891ffe8zCnOK7XW2gSt7',1795820873653,1795820873657,'{"type":"text","text":"Done with the tool.","time":{"start":1795820861123,"end":1795820861149}}');
INSERT INTO part VALUES ('prt_21f43e7bb001fRKM7dkGxqZdDK','msg_21f43e7ba001grPPY6zmqcEwed','ses_de0bc1891ffe8zCnOK7XW2gSt7',1795820873659,1795820873713,'{"type":"text","text":"SAY: three"}');
INSERT INTO part VALUES ('prt_21f43e818001f1D2G6QRiThXyE','msg_21f43e808001fQa5qg8ZXtYwJ0','ses_de0bc1891ffe8zCnOK7XW2gSt7',1795820873752,1795820873752,'{"type":"text","text":"three","time":{"start":1795820864236,"end":1795820864240}}');
INSERT INTO part VALUES ('prt_21f43ee1f001yxun9e57uNc9gh','msg_21f43ee1d0011dyqR34rGJDqEF','ses_de0bc1891ffe8zCnOK7XW2gSt7',1795820875296,1795820875296,'{"type":"text","text":"SAY: in the fork"}');
INSERT INTO part VALUES ('prt_21f43ee4e001Jm4qHlgHG38x47','msg_21f43ee26001m1aO11P2HaTA70','ses_de0bc1891ffe8zCnOK7XW2gSt7',1795820875342,1795820875356,'{"type":"text","text":"in the fork","time":{"start":1795820875342,"end":1795820875356}}');
