/**
 * Merges two people's changes of one ordered list. Additions and removals of both are carried out. A move is
 * taken from the one who made it.
 * @returns undefined if the changes contradict each other: both have moved elements, one has removed what the
 * other has moved, or both have added the same element at different places. Also if a value occurs twice.
 */
export function mergeLists(
  base: readonly string[],
  mine: readonly string[],
  theirs: readonly string[],
): string[] | undefined {
  if (isEqual(mine, base)) return [...theirs];
  if (isEqual(theirs, base) || isEqual(theirs, mine)) return [...mine];
  if ([base, mine, theirs].some((list) => new Set(list).size < list.length)) return undefined;
  const ofAll = (list: readonly string[]) =>
    list.filter((each) => base.includes(each) && mine.includes(each) && theirs.includes(each));
  const haveTheyMoved = !isEqual(ofAll(theirs), ofAll(base));
  const haveBothMoved = haveTheyMoved && !isEqual(ofAll(mine), ofAll(base));
  if (haveBothMoved && !isEqual(ofAll(mine), ofAll(theirs))) return undefined;
  const isContradicted = (each: string) =>
    base.includes(each)
      ? mine.includes(each) !== theirs.includes(each) &&
        (isMoved(each, base, mine) || isMoved(each, base, theirs))
      : isMoved(each, mine, theirs);
  if ([...base, ...mine].some(isContradicted)) return undefined;
  return haveTheyMoved ? addTo(theirs, base, mine) : addTo(mine, base, theirs);
}

/** Carries out the additions and removals of `other` on the list that has the order of the result. */
function addTo(list: readonly string[], base: readonly string[], other: readonly string[]): string[] {
  const merged = list.filter((each) => other.includes(each) || !base.includes(each));
  for (const [index, each] of other.entries()) {
    if (base.includes(each) || merged.includes(each)) continue;
    const isLast = !other.slice(index + 1).some((later) => merged.includes(later));
    const before = other.slice(0, index).findLast((earlier) => merged.includes(earlier));
    // Without an element before it, indexOf is -1, and it becomes the first.
    merged.splice(isLast ? merged.length : merged.indexOf(before ?? '') + 1, 0, each);
  }
  return merged;
}

/** Whether an element of both lists stands on the other side of another such element. */
function isMoved(moved: string, from: readonly string[], to: readonly string[]): boolean {
  if (!from.includes(moved) || !to.includes(moved)) return false;
  const isAfter = (list: readonly string[], each: string) => list.indexOf(each) > list.indexOf(moved);
  return from.some((each) => to.includes(each) && isAfter(from, each) !== isAfter(to, each));
}

function isEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((each, index) => each === other[index]);
}
