/** Elements that cannot be operated. */

export const isDisabled = (element: Element): boolean =>
  element.matches(':disabled') || element.closest('[aria-disabled="true"]') !== null;

export const isInert = (element: Element): boolean => element.closest('[inert]') !== null;

export const isReadOnly = (element: Element): boolean =>
  (element as HTMLInputElement).readOnly === true || element.getAttribute('aria-readonly') === 'true';
