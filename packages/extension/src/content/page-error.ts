import type { PageError, PageErrorCode } from '../messages.ts';

/** A failure with a reason for the model. Anything else that is thrown is a bug. */
export class PageFailure extends Error {
  override readonly name = 'PageFailure';
  readonly code: PageErrorCode;
  readonly elementId: number | undefined;

  constructor(code: PageErrorCode, message: string, elementId?: number) {
    super(message);
    this.code = code;
    this.elementId = elementId;
  }
}

export function pageError(thrown: unknown): PageError {
  if (thrown instanceof PageFailure) {
    const { code, message, elementId } = thrown;
    return { code, message, ...(elementId !== undefined && { elementId }) };
  }
  return { code: 'INTERNAL_ERROR', message: thrown instanceof Error ? thrown.message : String(thrown) };
}
