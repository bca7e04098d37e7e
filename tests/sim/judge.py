"""The promises that every world must keep."""

from gristmill.formats.open import open_writer
from gristmill.runtime.part import parts_ahead
from gristmill.runtime.verdict import Evidence
from gristmill.runtime.verify import verify_run
from tests.sim.fleet import Fleet
from tests.sim.job import job, rejected
from tests.sim.services import Services
from tests.sim.setting import Setting


class ViolationError(AssertionError):
    """A promise was broken."""


def judge(setting: Setting, services: Services, fleet: Fleet) -> None:
    """Raises ViolationError."""
    truth = setting.truth
    if services.ledger.changed:
        raise ViolationError(f"written once, and then otherwise: {services.ledger.changed[:3]}")
    if left := services.left():
        raise ViolationError(f"the queue is not empty: {left}")
    results = {info.key: services.output.get(info.key) for info in services.output.list()}
    if missing := truth.results.keys() - results.keys():
        raise ViolationError(f"lost: {sorted(missing)}")
    if results != truth.results:
        raise ViolationError("the results are not those of an undisturbed run")
    if rejected(services.run) != truth.rejected:
        raise ViolationError("the dead letters are not those of an undisturbed run")
    _judge_proof(setting, services)
    counted = sum(tally.counts.records for tally in fleet.tallies)
    if counted > truth.records:
        raise ViolationError(f"the attempts count {counted} records, there are {truth.records}")
    _judge_waste(setting, services, fleet)


def _judge_proof(setting: Setting, services: Services) -> None:
    mill = setting.truth.mill
    evidence = Evidence(
        mill.spec,
        services.run,
        services.output,
        services.inputs,
        mill.reader,
        open_writer(mill.spec.blueprint.output.format, (), ()),
    )
    verdict = verify_run(evidence, mill.shards, deep=True)
    if verdict.gaps:
        raise ViolationError(f"verify --deep: {verdict.gaps[:3]}")
    if verdict.counts.records != setting.truth.records:
        raise ViolationError(f"{verdict.counts.records} outcomes, {setting.truth.records} records")


def in_hand(setting: Setting) -> int:
    """Most records that one worker has inferred, or is inferring, and has not published: those of
    the part that is being published, of those that wait behind it, and of the one in the engine."""
    kind = job(setting.job)
    slots = 64 if kind.continuous else 1
    return min(
        setting.truth.records, kind.part_records * (parts_ahead(slots, kind.part_records) + 2)
    )


def in_engine(setting: Setting) -> int:
    """Most records that the engine works on at once."""
    kind = job(setting.job)
    return min(setting.truth.records, 64 if kind.continuous else kind.batch_records)


def allowed_waste(setting: Setting, services: Services, fleet: Fleet) -> int:
    """Most records that may have been inferred in vain.

    An end without a word (a kill, storage that fails) loses what was in hand. A reclaim keeps it,
    but for what the engine has when the time is up: a batch in each slot. A pause, or a heartbeat
    that is held up, may outlive the lease and make two of one worker: what the first had in hand
    is lost, or what the second did meanwhile is.

    Two tickets may be about the same parts when a queue delivers twice, and when a ticket that was
    divided comes back as it was before: then what the other ticket covers is done twice.
    """
    hand, largest = in_hand(setting), setting.truth.largest
    abrupt = fleet.endings["killed"] + fleet.endings["storage"]
    pauses = fleet.befell["pause"] + fleet.befell["delay"]
    stops = fleet.endings["reclaimed"] + fleet.befell["cancel"] * len(fleet.machines)
    lost = abrupt * hand + pauses * 2 * hand + stops * in_engine(setting)
    come_back = services.sqs.surplus + (abrupt + pauses + stops if fleet.divided else 0)
    return lost + come_back * largest


def _judge_waste(setting: Setting, services: Services, fleet: Fleet) -> None:
    inferred = sum(engine.records for engine in fleet.engines)
    waste, allowed = inferred - setting.truth.inferred, allowed_waste(setting, services, fleet)
    if waste > allowed:
        raise ViolationError(f"{waste} records inferred in vain, {allowed} allowed")
