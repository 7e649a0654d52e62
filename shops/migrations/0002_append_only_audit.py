"""Lets PostgreSQL refuse every change of an audit entry, and the removal of a young one."""

from django.db import migrations

from shops.db.only_postgresql import only_postgresql

MIN_DAYS = 90
FORWARDS = f"""
CREATE FUNCTION shops_audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND OLD.at < now() - interval '{MIN_DAYS} days' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'audit entries are not changed, and not removed before {MIN_DAYS} days'
        USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON shops_auditentry
    FOR EACH ROW EXECUTE FUNCTION shops_audit_is_append_only();
"""
BACKWARDS = """
DROP TRIGGER audit_is_append_only ON shops_auditentry;
DROP FUNCTION shops_audit_is_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("shops", "0001_initial")]

    operations = [only_postgresql(FORWARDS, BACKWARDS)]
