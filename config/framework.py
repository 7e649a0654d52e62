"""The settings of Django and its packages that no operator sets; `config.settings` has them with its own."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
from django.templatetags.static import static
from redis.backoff import NoBackoff
from redis.retry import Retry

from config import sidebar
from config.redis.connections import Pool

# --- The application ---

INSTALLED_APPS = [
    "config",  # before the apps whose templates it replaces
    "unfold",  # the admin's look; before the admin, for the same reason
    "unfold.contrib.filters",
    "django.contrib.admin",
    "allauth",  # its template tags
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular_sidecar",  # the assets of the reference page
    "shops",
    "parcels",
    "labels",
]
MIDDLEWARE = [
    "config.api.middleware.RequestMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "config.api.middleware.StaticFiles",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django.middleware.common.CommonMiddleware",
    "config.api.middleware.Pages",
    # The admin's alone.
    "config.desk.locale.StaffLocale",
    "config.login.middleware.LoginRateLimit",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "config.api.middleware.Forms",
    "django.middleware.csrf.CsrfViewMiddleware",
    "config.login.middleware.StaffSession",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
CSRF_FAILURE_VIEW = "config.error_pages.outdated_form"
APPEND_SLASH = False  # a trailing slash is an unknown path
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "config.login.context.admin_site",
            ]
        },
    }
]
# PDFs that staff upload when they adopt a label, together, and the whole form. Uploads stay in memory.
MAX_UPLOAD_BYTES = 10 * 1024 * 1024  # a label has about 50 kB a page
DATA_UPLOAD_MAX_MEMORY_SIZE = FILE_UPLOAD_MAX_MEMORY_SIZE = MAX_UPLOAD_BYTES + 1024 * 1024
LANGUAGE_CODE = "en-gb"
LANGUAGES = [("en-gb", "English"), ("fr", "Français")]  # of the staff's pages (config.desk.locale)
LOCALE_PATHS = [Path(__file__).with_name("locale")]
TIME_ZONE = "UTC"
FORMAT_MODULE_PATH = ["config.formats"]
STATIC_URL = "/static/"
WHITENOISE_MAX_AGE = 60  # seconds, as for the pages that use them: file names do not change with a version
WHITENOISE_ALLOW_ALL_ORIGINS = False  # pages are served under the same name as their files
WHITENOISE_USE_FINDERS = True  # serves the packages' files in place, without collectstatic
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- The admin's look ---

UNFOLD = {
    "SITE_TITLE": "Parcel service",
    "SITE_HEADER": "Parcel service",
    "SITE_SYMBOL": "package_2",
    "SHOW_BACK_BUTTON": True,
    "DASHBOARD_CALLBACK": "config.desk.first_page.add_figures",
    "ACCOUNT": {"navigation": sidebar.ACCOUNT},
    "SIDEBAR": {"navigation": sidebar.NAVIGATION},
    "STYLES": [lambda _: static("staff/desk.css")],
    "SCRIPTS": [lambda _: static("staff/keyboard.js")],
}

# --- Staff's log-in (config.login) ---

LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "admin:index"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
AUTHENTICATION_BACKENDS = ["config.login.backends.StaffBackend"]
PASSWORD_HASHERS = ["config.login.backends.OneAtATimeHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
PASSWORD_RESET_TIMEOUT = 24 * 3600  # of the link at which a member of staff sets his password
SESSION_COOKIE_AGE = 3600  # since the last request
SESSION_MAX_AGE_S = 12 * 3600  # since the log-in
ACCOUNT_SESSION_REMEMBER = False  # the cookie ends with the browser
ACCOUNT_ADAPTER = "config.login.adapters.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_RATE_LIMITS = False  # config.login.limits counts for all processes together
MFA_ADAPTER = "config.login.adapters.MFAAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_FORMS = {
    "authenticate": "config.login.forms.CodeForm",
    "reauthenticate": "config.login.forms.ConfirmationForm",
    "activate_totp": "config.login.forms.TOTPForm",
}
MFA_TOTP_TOLERANCE = 1  # a code of half a minute earlier or later: clocks differ
SOCIALACCOUNT_ADAPTER = "config.login.oidc.accounts.SocialAccountAdapter"

# --- The API ---

REST_FRAMEWORK = {
    # Fail closed: a view without permissions of its own needs a token.
    "DEFAULT_AUTHENTICATION_CLASSES": ["shops.api.authentication.BearerAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_THROTTLE_CLASSES": ["shops.api.throttling.ShopThrottle"],
    "DEFAULT_RENDERER_CLASSES": ["config.api.content.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["config.api.content.JSONParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "config.api.content.AlwaysJSON",
    "DEFAULT_METADATA_CLASS": None,
    "EXCEPTION_HANDLER": "config.api.errors.exception_handler",
    "UNAUTHENTICATED_USER": None,
}

# --- The rate limit's counter (config.redis) ---

REDIS_OPTIONS = {
    "pool_class": Pool,
    "serializer": SimpleNamespace(dumps=orjson.dumps, loads=orjson.loads),  # makes no objects, as Django's own would
    "socket_timeout": 0.2,  # the deadline of a request's whole wait for the counter
    "retry": Retry(NoBackoff(), 0),
    # A new connection sends no commands that counting does not need.
    "protocol": 2,
    "driver_info": None,
}
REDIS_CACHE = {"BACKEND": "config.redis.counter.CountingRedisCache", "OPTIONS": REDIS_OPTIONS}
PROCESS_CACHE = {
    "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
    "OPTIONS": {"MAX_ENTRIES": 1_000_000},  # no count is culled while its window runs
}

# --- Carriers and webhooks ---

# A purchase counts as interrupted this long after the carrier's deadline: no process is held up for longer.
LEASE_MARGIN_S = 60.0
# A parcel that alpha's search, which may need an hour, does not know this long after the order was not made.
RECONCILE_WAIT_S = 3600.0
# Calls to a carrier's tracking service that a `work` has in progress; for more there is another `work`.
TRACKING_CONCURRENCY = 4
WEBHOOK_PACE = 1.0  # divides the pauses between attempts; drills set more

# --- Logs ---

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"text": {"()": "config.ops.logs.TextFormatter"}, "json": {"()": "config.ops.logs.JsonFormatter"}},
    "handlers": {"stderr": {"class": "config.ops.log_writer.Handler"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        "django": {"handlers": [], "propagate": True},
        "django.request": {"level": "CRITICAL"},  # would log requests a second time, with their paths
        "django.security": {"level": "CRITICAL"},  # quotes refused Host, Referer and Origin headers
        "urllib3": {"level": "ERROR"},  # quotes addresses and malformed headers, and warns of each connection not kept
    },
}
