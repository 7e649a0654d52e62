"""The places between which beta's parcels need a customs declaration."""

from carriers.sandbox.countries import EU, FRANCE, OVERSEAS

# Postal codes outside the customs union, by their beginnings: the Canaries, Ceuta and Melilla; Livigno and Campione;
# Helgoland and Büsingen; Åland; Mount Athos.
OUTSIDE = {
    "ES": ("35", "38", "51", "52"),
    "IT": ("23041", "23030", "22061", "22060"),
    "DE": ("27498", "78266"),
    "FI": ("22",),
    "GR": ("63086", "63087"),
}


def needs_customs(sender_country: str, country: str, zip_code: str) -> bool:
    """Return whether a parcel between these places needs a declaration; one that stays on its island does not."""
    if sender_country in OVERSEAS:
        return country != sender_country
    if country not in EU | FRANCE:
        return True
    return zip_code.replace(" ", "").startswith(OUTSIDE.get(country, ("none",)))
