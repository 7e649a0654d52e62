"""The lives of deliveries, as a part of the parcels': an endpoint fails, is paused, rotated and enabled again."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tests.models import product
from tests.models.interruptions import die
from tests.models.parcel_rules import Oracle
from tests.models.parcel_world import Endpoint, Shop, World

HOUR_S = 3600
shops = st.sampled_from([0, 0, 0, 1])
NO_KILL = (0, "")
kills = st.sampled_from([NO_KILL, NO_KILL, NO_KILL, (1, "instead"), (1, "after"), (2, "instead"), (2, "after")])


class DeliveryLife(RuleBasedStateMachine):
    """Plays with the endpoints of two shops, each of which has one that always works and one that does not."""

    world: World
    oracle: Oracle

    @rule(kill=kills)
    def deliver(self, kill: tuple[int, str] = NO_KILL) -> None:
        with self.world.commits.planned(*kill, die):
            product.deliver()
        self.note_kill(kill)
        if not kill[0]:
            self.check_told()

    def check_told(self) -> None:
        """Each shop's steady endpoint has everything by now, unless a process died that has the lease."""
        for shop in self.world.shops:
            self.oracle.check_told(shop, shop.steady, is_drained=not self.world.is_leased)
            self.oracle.check_told(shop, shop.moody, is_drained=False)

    @rule(shop=shops, status=st.sampled_from([500, 500, 410]))
    def fail(self, shop: int, status: int) -> None:
        self.shop(shop).moody.receiver.status = status

    @rule(shop=shops)
    def pause(self, shop: int) -> None:
        self.set_paused(self.shop(shop), is_paused=True)

    @rule(shop=shops, times=st.integers(1, 2))
    def rotate(self, shop: int, times: int) -> None:
        endpoint = self.shop(shop).moody
        self.oracle.check_signatures(endpoint)
        for _ in range(times):
            secret = self.world.staff.rotate(endpoint.id)
            (*older, (last, _end)) = endpoint.secrets
            endpoint.secrets = [*older, (last, self.world.now_s), (secret, float("inf"))]

    @rule(shop=shops)
    def recover(self, shop: int) -> None:
        """An endpoint works again, and staff enable it: it gets what waits at once."""
        self.heal(self.shop(shop))

    def heal(self, shop: Shop) -> None:
        endpoint = shop.moody
        endpoint.receiver.status = 200
        self.set_paused(shop, is_paused=False)
        if product.is_disabled(endpoint.id):
            self.world.staff.enable(endpoint.id)
        self.world.staff.test(endpoint.id)
        if self.world.is_leased:
            self.pass_time(120)
        product.deliver()
        self.pass_time(120)
        product.deliver()
        if endpoint.may_be_late:
            self.world.staff.replay(endpoint.id)
            product.deliver()
        self.oracle.check_same(shop)

    def set_paused(self, shop: Shop, *, is_paused: bool) -> None:
        if shop.moody.is_paused != is_paused:
            self.world.staff.pause(shop.moody.id, is_paused=is_paused)
            shop.moody.is_paused = is_paused

    def pass_time(self, seconds: float) -> None:
        """Let time pass; after days without success an endpoint's events are given up, as the schedule says."""
        for shop in self.world.shops:
            for endpoint in (shop.steady, shop.moody):
                self.oracle.check_signatures(endpoint)
            if seconds > HOUR_S:
                shop.moody.may_be_late |= self.is_out(shop.moody)
        self.world.pass_time(seconds)

    def is_out(self, endpoint: Endpoint) -> bool:
        return endpoint.receiver.status != 200 or endpoint.is_paused or product.is_disabled(endpoint.id)

    def note_kill(self, kill: tuple[int, str]) -> None:
        """Deliveries that a process had leased when it died wait until the lease is over."""
        self.world.was_killed |= bool(kill[0])
        self.world.is_leased |= bool(kill[0])

    def shop(self, rank: int) -> Shop:
        return self.world.shops[rank]
