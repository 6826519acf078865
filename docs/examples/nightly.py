"""Have an agent look after a folder every night, beginning now: python nightly.py FOLDER"""

import sys

from tservice.client.blocking import connect


def main(folder: str) -> None:
    """Print the job's time and how its first run began."""
    client = connect()
    api = client.coroutines
    made = client.now(
        api.post_cron_jobs(
            {
                "name": "Nightly upkeep",
                "agentType": "primary",
                "workingDir": folder,
                "promptMode": "inline_text",
                "promptText": "Run the tests; say in one line what is broken.",
                "inputMode": "paste",
                "scheduleType": "daily",
                "dailyTime": "03:30",
                "enabled": True,
                "concurrencyPolicy": "skip_if_same_agent_running",
            }
        )
    )
    job = made["job"]
    print("every night:", job["scheduleType"], job["dailyTime"])
    run = client.now(api.post_cron_jobs_id_run(job["id"]))["run"]
    if run["sessionId"] is None:
        raise SystemExit(f"it did not start: {run['errorMessage']}")
    session = client.session(run["sessionId"])
    # Its turn may be over before anybody waits for the end.
    while not session.last() and session.wait(["stop", "exit"], timeout=10) != "exit":
        continue
    print(session.last())


if __name__ == "__main__":
    main(*sys.argv[1:])
