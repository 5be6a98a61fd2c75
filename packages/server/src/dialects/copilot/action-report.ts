/** The client's report about an action, verified: the outcome of the call that requested the action. */
import {
  type Action,
  type ActionReport,
  type Page,
  renderReturned,
  sendWritten,
  suggestCorrection,
  verifyAction,
} from '@parlance/copilot';
import { isObject, type JsonObject, type Part, textPart } from '@parlance/protocol';
import type { InteractRequest } from './request.ts';
import { pageData, pageParts } from './request-page.ts';

export type ReportedResult = { readonly failed: boolean; readonly parts: Part[]; readonly data?: JsonObject };

/** `input` is that of the call, `before` the page it was made for, and `page` the one in the report. */
export function reportedAction(
  input: JsonObject,
  request: InteractRequest,
  { before, page }: { before: Page | null; page: Page | null },
): ReportedResult {
  const action = sendWritten(typeof input.action === 'string' ? input.action : '')?.action;
  const after = page ?? before ?? EMPTY_PAGE;
  const expectedOutcome = isObject(input.expectedOutcome) ? input.expectedOutcome : undefined;
  const pages = { before, after };
  const verification = action
    ? verifyAction({ action, expectedOutcome }, reportIn(request, after), pages)
    : { success: false, confidence: 1, reason: 'The action could not be read.' };
  const correction = action && !verification.success ? suggestCorrection(action, verification, pages) : null;
  const words = [
    `The action ${input.action} ${verification.success ? 'worked' : 'did not work'}: ${verification.reason}`,
    ...(request.lastActionError ? [`The browser reports: ${errorText(request.lastActionError)}`] : []),
    ...returned(request.lastActionResult?.actualState),
    ...(correction ? [`Suggested: ${correction.strategy} – ${correction.reason}`] : []),
  ];
  return {
    failed: !verification.success,
    parts: [textPart(words.join('\n')), ...pictureIn(action, request.screenshot), ...pageParts(page)],
    data: { ...pageData(page), verification, ...(correction ? { correction } : {}) } as JsonObject,
  };
}

/** With the code, which tells a model what to try next. */
const errorText = ({ message, code }: NonNullable<InteractRequest['lastActionError']>): string =>
  code ? `${message} (${code})` : message;

const MAX_RESULT_LENGTH = 10_000;

/** The value returned by a reading action such as `getText`. */
const returned = (state: unknown): string[] =>
  state === undefined || state === null ? [] : [renderReturned(state, MAX_RESULT_LENGTH)];

/** The picture of a `screenshot` action, by its signature: PNG or JPEG. */
function pictureIn(action: Action | undefined, data: string | null | undefined): Part[] {
  if ((action?.name !== 'screenshot' && action?.name !== 'numberedScreenshot') || !data) return [];
  const mime = data.startsWith('iVBORw0KGgo') ? 'image/png' : data.startsWith('/9j/') ? 'image/jpeg' : null;
  return mime && /^[A-Za-z0-9+/]+={0,2}$/.test(data) ? [{ type: 'image', mime, data }] : [];
}

const EMPTY_PAGE: Page = { title: '', url: '', elements: [], shown: 0, text: '', truncated: false };

/** The report of the client, without the nulls that some clients send for unknown values. */
function reportIn(request: InteractRequest, after: Page): ActionReport {
  const { lastActionStatus, lastActionError, lastActionResult, clientVerification, clientObservations } =
    request;
  return {
    lastActionStatus: lastActionStatus ?? undefined,
    lastActionError: lastActionError ?? undefined,
    lastActionResult: lastActionResult ?? undefined,
    clientVerification: clientVerification ?? undefined,
    clientObservations: clientObservations ?? undefined,
    urlChanged: clientVerification?.urlChanged ?? clientObservations?.didUrlChange,
    previousUrl: request.previousUrl ?? undefined,
    url: request.url ?? after.url,
  };
}

const NO_TEXT =
  'The client cannot send the text of the page. Read elements with getText(number); if you can see images, look at the page with screenshot(). Otherwise tell the user that the text is missing.';

/**
 * The page that the client was asked for. A client that sends no text is not asked again: the page is then the
 * one `before`.
 */
export function pageResult(page: Page | null, before: Page | null): ReportedResult {
  if (page && !page.textMissing)
    return { failed: false, parts: [textPart('The whole page:'), ...pageParts(page)], data: pageData(page) };
  const known = page && page.elements.length > 0 ? page : (before ?? page);
  const still: Page | null = known && { ...known, textMissing: 'unavailable' };
  const parts = [textPart(NO_TEXT), ...pageParts(still)];
  return { failed: true, parts, data: pageData(still) };
}
