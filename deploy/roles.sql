-- The roles of the service's database, none a superuser: parcels_owner migrates and owns the tables; parcels, with
-- which the service runs, reads and writes rows, and can't change or remove a table. Run it in each new database, with
-- BACKUP_PASSWORD too if deploy/backup.sh copies it, as parcels_backup:
--
--   OWNER_PASSWORD=... SERVICE_PASSWORD=... psql --file deploy/roles.sql postgresql://postgres@HOST/parcels
\set ON_ERROR_STOP on
\getenv owner_password OWNER_PASSWORD
\getenv service_password SERVICE_PASSWORD
SELECT format('CREATE ROLE %I', name) FROM unnest(ARRAY['parcels_owner', 'parcels']) AS name
    WHERE name NOT IN (SELECT rolname FROM pg_roles) \gexec
ALTER ROLE parcels_owner LOGIN PASSWORD :'owner_password';
ALTER ROLE parcels LOGIN PASSWORD :'service_password';
REVOKE ALL ON DATABASE :"DBNAME" FROM PUBLIC;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT CONNECT ON DATABASE :"DBNAME" TO parcels_owner, parcels;
GRANT USAGE, CREATE ON SCHEMA public TO parcels_owner;
GRANT USAGE ON SCHEMA public TO parcels;
ALTER DEFAULT PRIVILEGES FOR ROLE parcels_owner IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO parcels;
ALTER DEFAULT PRIVILEGES FOR ROLE parcels_owner IN SCHEMA public
    GRANT USAGE, SELECT ON SEQUENCES TO parcels;
\getenv backup_password BACKUP_PASSWORD
\if :{?backup_password}
SELECT 'CREATE ROLE parcels_backup' WHERE 'parcels_backup' NOT IN (SELECT rolname FROM pg_roles) \gexec
ALTER ROLE parcels_backup LOGIN REPLICATION PASSWORD :'backup_password';
\endif
