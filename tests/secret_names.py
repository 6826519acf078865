"""Paths of files with credentials, by the scanner or program that names them.

The scanners' lists: C{core/signatures.go} of gitrob, C{config.yaml} of shhgit,
C{detector/filename/filename_detector.go} of Talisman, C{whispers/rules/files.yml} of whispers.
"""

from __future__ import annotations

BY_SOURCE = {
    "gitrob, shhgit": """
        server.pem tls.key node.keypair bundle.pkcs12 bundle.p12 bundle.pfx app.jks app.keystore
        app.keyring old.kdb vault.kdbx safe.psafe3 wallet.kwallet login.keychain drive.bek drive.tpm
        office.ovpn desk.rdp cloud.cscfg deploy_rsa deploy_dsa deploy_ed25519 deploy_ecdsa id_rsa
        otr.private_key .netrc _netrc netrc .npmrc .pgpass pgpass .htpasswd htpasswd .dockercfg
        .git-credentials .s3cfg .trc .tugboat .muttrc .gitrobrc config/initializers/secret_token.rb
        credentials.xml jenkins.plugins.publish_over_ssh.BapSshPublisherPlugin.xml proftpdpasswd
        robomongo.json filezilla.xml recentservers.xml ventrilo_srv.ini terraform.tfvars
        sftp-config.json .dbeaver-data-sources.xml LocalSettings.php wp-config.php .bash_history
        .zsh_history .mysql_history .psql_history .irb_history .purple/accounts.xml
        .xchat2/servlist_.conf .irssi/config .recon-ng/keys.db .aws/credentials .gem/credentials
        .config/doctl/config.yaml .config/hub etc/shadow .env
    """,
    "Talisman, whispers": """
        deploy.ppk site.pubxml.user .pypirc .remote-sync.json deployment-config.json
        .docker/config.json secrets.json config/secrets.yml secrets.yaml logins.json .esmtprc
        .ftpconfig .idea/WebServers.xml .vscode/sftp.json credentials.yaml .python_history
        prod.env
    """,
    "the programs' documentation": """
        .claude/.credentials.json .claude.json .codex/auth.json .gemini/oauth_creds.json
        .gemini/mcp-oauth-tokens.json .qwen/oauth_creds.json .local/share/opencode/auth.json
        .local/share/opencode/mcp-auth.json .pi/agent/auth.json .config/github-copilot/hosts.json
        .config/github-copilot/apps.json .config/gh/hosts.yml .config/glab-cli/config.yml
        .aws/config .aws/sso/cache/0123.json .aws/cli/cache/0123.json .azure/accessTokens.json
        .azure/msal_token_cache.json .boto .config/gcloud/credentials.db
        .config/gcloud/access_tokens.db .config/gcloud/application_default_credentials.json
        .config/gcloud/legacy_credentials/a@example.org/adc.json credentials.json .oci/config
        .kube/config kubeconfig prod.kubeconfig .config/containers/auth.json .dockerconfigjson
        .terraformrc .terraform.d/credentials.tfrc.json terraform.tfstate terraform.tfstate.backup
        .vault-token .pulumi/credentials.json .fly/config.yml .netlify/config.json
        .config/configstore/firebase-tools.json .config/ngrok/ngrok.yml .cloudflared/0123.json
        .cargo/credentials.toml .m2/settings.xml .m2/settings-security.xml
        .gradle/gradle.properties .bundle/config .composer/auth.json .hex/hex.config
        .sbt/.credentials .cache/huggingface/token .kaggle/kaggle.json .streamlit/secrets.toml
        .postgresql/pgpass.conf .my.cnf .mylogin.cnf .msmtprc .fetchmailrc .authinfo .smbcredentials
        .htdigest .ssh/deploy .gnupg/private-keys-v1.d/0123.key .gnupg/secring.gpg
    """,
}
NAMES = tuple(name for names in BY_SOURCE.values() for name in names.split())

HARMLESS = (
    "id_rsa.pub", ".ssh/config", ".ssh/known_hosts", ".ssh/authorized_keys", ".ssh/deploy.pub",
    "locales/en/auth.json", "config.json", "a/config", "hosts.yml", "src/credentials/a.py", "env",
    "settings.py", ".gitconfig", "token", "settings.xml", ".claude/settings.json", "main.tf",
    ".config/hubs", "a.aws/config", "notsecrets.json", "history", ".env.d/readme",
)  # fmt: skip
"""Paths that look like one."""
