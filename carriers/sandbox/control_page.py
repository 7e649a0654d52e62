"""The page that explains the sandbox."""

from carriers.sandbox.faults import fault_table
from carriers.sandbox.journeys import JOURNEYS

PAGE = """\
Carrier sandbox: stands in for the carriers alpha and beta. Labels bought here are real PDFs that ship nothing
and cost nothing.

Start
  manage.py carrier_sandbox [--host H] [--port P] [--pace N]
  python -m carriers.sandbox [--host H] [--port P] [--pace N] [--ledger FILE]   without Django; FILE keeps the
                                                                                ledger

Settings that connect the service
  ALPHA_URL={url}/alpha/shipping
  ALPHA_TRACKING_URL={url}/alpha/tracking
  ALPHA_POINTS_URL={url}/alpha/points
  ALPHA_QUICKCOST_URL={url}/alpha/quickcost
  BETA_URL={url}/beta/2.0
  BETA_POINTS_URL={url}/beta/points
  BETA_ACCOUNT_URL={url}/beta/account/additionalinformations
  BETA_DELIVERY_URL={url}/beta/delivery/getDateLivraison
  BETA_TRACKING_URL={url}/beta/tracking/timelineCompany

Carriers
  POST   /alpha/shipping    alpha's shipping service (SOAP): shippingMultiParcelV4,
                            getReservedSkybillWithTypeAndModeAuth (by the reservation's number)
  POST   /alpha/tracking    alpha's tracking service (SOAP): trackWithSenderRef, cancelSkybill, trackSkybillV2,
                            searchPOD
  POST   /alpha/points      alpha's pickup points (SOAP): recherchePointChronopost, ...Inter, ...InterParService,
                            rechercheDetailPointChronopost, ...Inter
  POST   /alpha/quickcost   alpha's price service (SOAP): calculateProducts, calculateDeliveryTime
  POST   /beta/2.0/...      beta's label service (JSON): generateLabel, checkGenerateLabel; the same
                            under /beta/3.1, its newer version; and generateBordereauByParcelsNumbers
  POST   /beta/points/...   beta's pickup points (JSON): findRDVPointRetraitAcheminement,
                            findPointRetraitAcheminementByID
  POST   /beta/account/additionalinformations   beta's account service (JSON): what an account includes
  POST   /beta/delivery/getDateLivraison   beta's delivery service (JSON): the day of arrival in France
  POST   /beta/tracking/timelineCompany   beta's tracking service (JSON)
  Requests are validated as strictly as the carriers' documents say. Labels are PDFs only: alpha's mode Z2D
  and beta's ZPL formats are refused.

Ledger
  GET    /ledger            the purchases; filters: ?carrier= and ?reference= (alpha's shipperRef,
                            beta's orderNumber)
  GET    /ledger/count      the number of parcels bought, with the same filters
  GET    /ledger/parcel     one parcel, ?tracking_number=: the request (without credentials), the printed texts,
                            the customs form, the fields that send it to the wrong depot (misrouted_by)
  A parcel that is ordered to a pickup point under another name or address than the point's own is sold, as the
  carriers do, and is "misrouted": true.

Pickup points
  GET    /points            the directory; filters: ?carrier=, ?country= and ?status= (open, holiday, holiday_later,
                            inactive, full)
  To provoke an error of the service, look up alpha's point F0601 (error 601) or beta's 990124 (error 124).

Tracking
  A parcel travels by itself, {pace:g} seconds of its journey a second (SANDBOX_PACE or --pace). Its journey is one of
  {journeys}.
  Order with the reference "JOURNEY <name>", for example "JOURNEY RELAY". Otherwise a parcel to a pickup point takes
  relay, one that leaves France partner, and any other home. journeys.csv has the steps.
  A number that was not sold here is unknown. beta answers error 105 about the number 6A99999990105, and so on.
  POST   /control/journey   {{"tracking_number": "...", "journey": "refused"}}: what happened stays, the rest changes
  POST   /control/advance   {{"tracking_number": "...", "steps": 1}}: the next steps happen now
  POST   /control/parcel    {{"carrier": "beta", "tracking_number": "...", "journey": "home", "age_s": 0, "pace": 1}},
                            or a list of such: parcels that were sold elsewhere. Only carrier and tracking_number are
                            required

Control
  POST   /control/faults    arm a fault: {{"fault": "hang", "carrier": "alpha", "operation": "shippingMultiParcelV4",
                            "reference": "...", "rank": 2, "count": 1, "delay_s": 3}}
                            Only fault is required. By default it meets every carrier, operation, reference and
                            rank (of a linked parcel), stays armed, and has the delay of the table.
  GET    /control/faults    list the armed faults; one with a count is disarmed after that many uses
  DELETE /control/faults    disarm all faults
  POST   /control/collect   {{"tracking_number": "..."}}: alpha takes the parcel in charge, a cancellation is answered 3
  POST   /control/reset     clear purchases, faults and counts, and break off requests that wait
  GET    /control/requests  count the requests to each path; /redirected is the target of redirects

Credentials
  alpha takes any account of 8 digits with any password of 6 digits; beta takes any contract number with any
  password, or any API key without the other two. Refused are:
    alpha  password 000000, or an account that ends in 000030   error 30
           an account that ends in 000029                       error 29
           an account that ends in 000033                       error 33, product not on the contract
           an account that ends in 0000 and a product's code        calculateProducts lacks the product
           an account that ends in 000133, 000233 or 000333     error 33, wrong accesColis account number, wrong
                                                                accesColis password, wrong identWebPro password
    beta   a contract number or API key that ends in 30000, 30007, 30008, 30009 or 30700   that error; beta's other
           services answer 201 and 202

Faults
  Order with the reference "FAULT <name>", for example "FAULT HANG". <name> is a fault of the table or an error
  code of the carrier: "FAULT 33" (alpha), "FAULT 30204", "FAULT R18" (ROUTING_18) or "FAULT IV106"
  (GEO_ROUTING_IV106) (beta). "FAULT 2 <name>" fails only the second of beta's linked parcels,
  which go overseas; elsewhere each parcel is a first. Case does not matter.
  A request that breaks the carrier's rules is refused before any fault. An armed fault goes before a reference,
  the oldest first; it may name an error code as well. accept and unfound can only be armed.

{faults}
"""


def control_page(url: str, pace: float) -> str:
    return PAGE.format(url=url, pace=pace, journeys=", ".join(JOURNEYS), faults=fault_table())
