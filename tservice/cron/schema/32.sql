-- Runs of jobs that keep going (protocol-cron-keep-going): JSON, read and written whole.
ALTER TABLE cron_runs ADD COLUMN keep_going TEXT;

-- A timed run becomes a job that has run once.  Its id tells it apart, and the run keeps the id.
INSERT INTO cron_jobs (
    id, owner, definition, created_at, updated_at, last_run_at, last_status, completed_once,
    covered, skipping
)
SELECT
    'timed-' || id,
    owner,
    json_object(
        'name', coalesce(nullif(trim(substr(replace(replace(replace(
            trim(prompt, char(9, 10, 13, 32)), char(9), ' '), char(10), ' '), char(13), ' '
        ), 1, 80)), ''), 'Timed run'),
        'agent_type', 'primary',
        'working_dir', working_dir,
        'case_name', NULL,
        'launch_command', NULL,
        'prompt_mode', 'inline_text',
        'prompt_text', prompt,
        'prompt_file_path', NULL,
        'input_mode', 'paste',
        'schedule', json_object(
            'type', 'once', 'run_at', started_at, 'interval_minutes', NULL, 'daily_time', NULL,
            'weekly_days', NULL, 'weekly_time', NULL, 'cron_expression', NULL
        ),
        'enabled', json('false'),
        'concurrency_policy', 'warn_only',
        'auto_close_previous_session', json('true'),
        'notes', NULL,
        'keep_going_minutes', duration_minutes
    ),
    started_at,
    started_at,
    started_at,
    CASE
        WHEN lines > 0 THEN 'prompt_sent'
        WHEN status = 'failed' OR session_id IS NULL THEN 'failed'
        ELSE 'session_started'
    END,
    1,
    started_at,
    0
FROM timed_runs ORDER BY seq;

-- A run without a session was interrupted while its session was being started, and has failed.
INSERT INTO cron_runs (
    id, job_id, trigger, status, started_at, finished_at, session_id, error_message, delivery,
    keep_going
)
SELECT
    timed_runs.id,
    'timed-' || timed_runs.id,
    'manual_run_now',
    cron_jobs.last_status,
    started_at,
    CASE WHEN lines = 0 AND status = 'running' AND session_id IS NOT NULL
        THEN NULL ELSE started_at END,
    session_id,
    CASE
        WHEN status = 'failed' THEN coalesce(
            substr(json_extract(logs, '$[#-1]'), 22), 'it failed'
        )
        WHEN status = 'running' AND session_id IS NULL
            THEN 'the service ended before the session was started'
    END,
    CASE WHEN lines = 0 AND status = 'running' AND session_id IS NOT NULL
        THEN json_object('text', prompt, 'typed', json('false')) END,
    json_object(
        'minutes', duration_minutes,
        'end_at', end_at,
        'state', CASE WHEN status = 'running' AND session_id IS NULL THEN 'failed' ELSE status END,
        'turns', turns,
        'lines', lines,
        'logs', json(logs)
    )
FROM timed_runs JOIN cron_jobs ON cron_jobs.id = 'timed-' || timed_runs.id ORDER BY timed_runs.seq;

DROP TABLE timed_runs;
