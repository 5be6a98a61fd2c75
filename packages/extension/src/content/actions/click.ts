/** Clicks and hovering. */
import { isInput, isSelect, isTextArea, isTextInput } from '../dom/kinds.ts';
import { clickAt, moveTo, sendMouse } from '../events/pointer.ts';
import { subjectOf } from '../numbers.ts';
import { PageFailure } from '../page-error.ts';
import { expectReaction } from '../settle.ts';
import { moveHoverStyles, showHoverStyles } from './hover-styles.ts';
import { type Aim, frames, newCover, reach, rendered } from './reach.ts';

/** A popup that a field opens over itself is named. */
export async function click(id: number): Promise<{ coveredBy: string } | undefined> {
  const { element, target, at } = await clickable(id);
  clickAt(target, { at });
  moveHoverStyles(target);
  if (!isTextInput(element) && !isTextArea(element)) return undefined;
  await frames(2);
  const cover = newCover(element);
  return cover === null ? undefined : { coveredBy: cover };
}

export async function doubleClick(id: number): Promise<void> {
  const { target, at } = await clickable(id);
  clickAt(target, { at });
  await frames(1);
  clickAt(target, { at, detail: 2 });
  sendMouse(target, 'dblclick', { at, detail: 2 });
}

export async function rightClick(id: number): Promise<void> {
  const { target, at } = await reach(id);
  clickAt(target, { at, button: 2 });
}

export async function hover(id: number): Promise<void> {
  rendered(id);
  const { target, at } = await reach(id);
  moveTo(target, at);
  showHoverStyles(target);
  expectReaction();
}

async function clickable(id: number): Promise<Aim> {
  const aim = await reach(id);
  refuseSpecial(aim.element, id);
  return aim;
}

/** What a click of a script does not operate. */
export function refuseSpecial(element: Element, id: number): void {
  if (isSelect(element))
    throw new PageFailure('UNSUPPORTED', `${subjectOf(element)} is a list: use selectDropdown.`, id);
  if (isInput(element) && element.type === 'file')
    throw new PageFailure(
      'USER_NEEDED',
      `${subjectOf(element)} takes a file, which only the user can choose.`,
      id,
    );
}
