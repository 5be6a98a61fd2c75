/** Elements that cannot be operated. */
import { closest } from './flat-tree.ts';

export const isDisabled = (element: Element): boolean =>
  element.matches(':disabled') || closest(element, '[aria-disabled="true"]') !== null;

export const isInert = (element: Element): boolean => closest(element, '[inert]') !== null;

export const isReadOnly = (element: Element): boolean =>
  (element as HTMLInputElement).readOnly === true || element.getAttribute('aria-readonly') === 'true';
