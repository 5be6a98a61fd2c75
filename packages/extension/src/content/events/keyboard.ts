/** Keyboard events, and what a browser does on a key that no listener cancelled. */

export type Key = {
  readonly key: string;
  readonly code: string;
  readonly keyCode: number;
  readonly ctrlKey: boolean;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
  readonly metaKey: boolean;
};

const NAMED: Readonly<Record<string, readonly [key: string, code: string, keyCode: number]>> = {
  enter: ['Enter', 'Enter', 13],
  return: ['Enter', 'Enter', 13],
  tab: ['Tab', 'Tab', 9],
  escape: ['Escape', 'Escape', 27],
  esc: ['Escape', 'Escape', 27],
  backspace: ['Backspace', 'Backspace', 8],
  delete: ['Delete', 'Delete', 46],
  del: ['Delete', 'Delete', 46],
  space: [' ', 'Space', 32],
  spacebar: [' ', 'Space', 32],
  arrowup: ['ArrowUp', 'ArrowUp', 38],
  up: ['ArrowUp', 'ArrowUp', 38],
  arrowdown: ['ArrowDown', 'ArrowDown', 40],
  down: ['ArrowDown', 'ArrowDown', 40],
  arrowleft: ['ArrowLeft', 'ArrowLeft', 37],
  left: ['ArrowLeft', 'ArrowLeft', 37],
  arrowright: ['ArrowRight', 'ArrowRight', 39],
  right: ['ArrowRight', 'ArrowRight', 39],
  home: ['Home', 'Home', 36],
  end: ['End', 'End', 35],
  pageup: ['PageUp', 'PageUp', 33],
  pagedown: ['PageDown', 'PageDown', 34],
  insert: ['Insert', 'Insert', 45],
};
const MODIFIERS: Readonly<Record<string, 'ctrlKey' | 'shiftKey' | 'altKey' | 'metaKey'>> = {
  control: 'ctrlKey',
  ctrl: 'ctrlKey',
  shift: 'shiftKey',
  alt: 'altKey',
  option: 'altKey',
  meta: 'metaKey',
  cmd: 'metaKey',
  command: 'metaKey',
};
const NO_MODIFIERS = { ctrlKey: false, shiftKey: false, altKey: false, metaKey: false };

/** `Enter`, `Control+A`, `a`; null for names that are no key. */
export function keyNamed(name: string): Key | null {
  const parts =
    name === '+' || name.endsWith('++') ? [...name.slice(0, -1).split('+'), '+'] : name.split('+');
  const last = parts.pop() ?? '';
  const modifiers = { ...NO_MODIFIERS };
  for (const part of parts.filter((each) => each !== '')) {
    const modifier = MODIFIERS[part.trim().toLowerCase()];
    if (!modifier) return null;
    modifiers[modifier] = true;
  }
  const known = last === ' ' ? NAMED.space : NAMED[last.trim().toLowerCase()];
  if (known) return { key: known[0], code: known[1], keyCode: known[2], ...modifiers };
  const functionKey = /^f([1-9]|1[0-2])$/i.exec(last);
  if (functionKey) {
    const key = last.toUpperCase();
    return { key, code: key, keyCode: 111 + Number(functionKey[1]), ...modifiers };
  }
  return [...last].length === 1 ? characterKey(last, modifiers) : null;
}

export function characterKey(character: string, modifiers = NO_MODIFIERS): Key {
  const upper = character.toUpperCase();
  const letter = /^[A-Z]$/.test(upper);
  const digit = /^\d$/.test(character);
  const shifted = letter && character === upper && !modifiers.ctrlKey;
  return {
    ...modifiers,
    shiftKey: modifiers.shiftKey || shifted,
    key: modifiers.shiftKey && letter ? upper : character,
    code: letter ? `Key${upper}` : digit ? `Digit${character}` : character === ' ' ? 'Space' : '',
    keyCode: letter || digit ? upper.charCodeAt(0) : character === ' ' ? 32 : 0,
  };
}

export function sendKey(target: Element, type: 'keydown' | 'keypress' | 'keyup', key: Key): boolean {
  const charCode = type === 'keypress' ? (key.key === 'Enter' ? 13 : (key.key.codePointAt(0) ?? 0)) : 0;
  const event = new KeyboardEvent(type, {
    ...key,
    keyCode: type === 'keypress' ? charCode : key.keyCode,
    which: type === 'keypress' ? charCode : key.keyCode,
    charCode,
    bubbles: true,
    cancelable: true,
    composed: true,
  } as KeyboardEventInit);
  return target.dispatchEvent(event);
}
