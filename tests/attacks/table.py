"""All families of attacks, in the order of docs/attacks.md."""

from attacks import comparison, exhaustion, forging, intake, knowing, machine
from attacks.suite import Attack

FAMILIES: dict[str, tuple[Attack, ...]] = {
    module.FAMILY: module.ATTACKS for module in (forging, comparison, knowing, machine, exhaustion, intake)
}
ATTACKS: dict[str, Attack] = {attack.id: attack for attacks in FAMILIES.values() for attack in attacks}
assert len(ATTACKS) == sum(map(len, FAMILIES.values())), "two attacks have the same id"
