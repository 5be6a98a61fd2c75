/** Evidence of an action's effect: the client's report and the differences of the page. */
import type { Page, PageElement, Pages } from './page/page.ts';

/** A client's report on the action; every field may be missing. */
export type ActionReport = {
  readonly lastActionStatus?: string | null;
  readonly lastActionError?: { readonly message?: string; readonly code?: string } | null;
  readonly lastActionResult?: { readonly success?: boolean; readonly actualState?: unknown } | null;
  readonly urlChanged?: boolean | null;
  readonly previousUrl?: string | null;
  readonly url?: string | null;
  readonly clientVerification?: { readonly elementFound?: boolean; readonly urlChanged?: boolean } | null;
  readonly clientObservations?: {
    readonly didNetworkOccur?: boolean;
    readonly didDomMutate?: boolean;
    readonly didUrlChange?: boolean;
  } | null;
};

export type Evidence = {
  /** the client's reason for a failure */
  readonly refusal: string | null;
  /** the client reported success explicitly */
  readonly confirmed: boolean;
  readonly pending: boolean;
  readonly elementMissing: boolean;
  readonly urlChanged: boolean;
  /** null if unknown: there is no previous page, or the pages are incomplete */
  readonly pageChanged: boolean | null;
  /** a page came as a tree of controls: an unchanged one proves nothing */
  readonly partial: boolean;
  /** the client noticed some change */
  readonly changeObserved: boolean;
  readonly url: string;
};

export function evidenceOf(report: ActionReport, { before, after }: Pages): Evidence {
  const url = report.url || after.url;
  const earlier = report.previousUrl || before?.url || '';
  const observations = report.clientObservations;
  const reported = report.urlChanged ?? report.clientVerification?.urlChanged ?? observations?.didUrlChange;
  return {
    refusal: refusalIn(report),
    confirmed: report.lastActionStatus === 'success' || report.lastActionResult?.success === true,
    pending: report.lastActionStatus === 'pending',
    elementMissing: report.clientVerification?.elementFound === false,
    urlChanged: earlier !== '' && url !== '' ? earlier !== url : reported === true,
    pageChanged: changed(before, after),
    partial: after.textMissing !== undefined || before?.textMissing !== undefined,
    changeObserved:
      observations?.didNetworkOccur === true ||
      observations?.didDomMutate === true ||
      observations?.didUrlChange === true,
    url,
  };
}

function changed(before: Page | null, after: Page): boolean | null {
  if (!before || Boolean(before.textMissing) !== Boolean(after.textMissing)) return null;
  const same = samePage(before, after);
  return after.textMissing && same ? null : !same;
}

function refusalIn(report: ActionReport): string | null {
  const { lastActionError: error, lastActionStatus: status, lastActionResult: result } = report;
  const failed = status === 'failure' || status === 'failed' || status === 'error';
  if (!failed && !error && result?.success !== false) return null;
  // Reasons are shown to users: the code is only for a report without a message.
  return (error?.message || error?.code || 'no reason given').slice(0, 300);
}

function samePage(before: Page, after: Page): boolean {
  if (before.title !== after.title || before.text !== after.text) return false;
  if (before.elements.length !== after.elements.length) return false;
  return before.elements.every((element, index) => {
    const other = after.elements[index];
    return other !== undefined && sameElement(element, other);
  });
}

export const sameElement = (one: PageElement, other: PageElement): boolean =>
  one.id === other.id &&
  one.role === other.role &&
  one.name === other.name &&
  one.value === other.value &&
  sameState(one, other);

/** Stored pages do not preserve the order of fields. */
export function sameState({ state: one }: PageElement, { state: other }: PageElement): boolean {
  const flags = new Set([...Object.keys(one), ...Object.keys(other)]) as Set<keyof typeof one>;
  return [...flags].every((flag) => one[flag] === other[flag]);
}
