/** Texts for clients whose protocol has no frame for approvals, or for a model call that is retried. */
import { type Ask, type DurableEvent, unacceptedFiles, visibleLine } from '@parlance/protocol';

// Pending approvals

export const waitingText = (ask: Ask): string => `Waiting for approval: ${wholeText(ask)} (answer yes or no)`;

/** The description, and the exact command or patch unless the description contains it: users approve what they see. */
export function wholeText({ description, command, patch }: Ask): string {
  const exact = patch ?? command.join(' ');
  return unquoted(description).includes(unquoted(exact)) ? description : `${description}\n\n${exact}\n\n`;
}

const unquoted = (text: string): string => text.replace(/['"\\]/g, '');

/** For clients that cannot answer the approval. */
export const elsewhereText = ({ description }: Ask): string =>
  `${description.replace(/[.!?]$/, '')}: waits for approval elsewhere.`;

/** The approval as a question in a message, for clients that show only answers. */
export const questionText = (ask: Ask): string => {
  const text = wholeText(ask);
  return `${text}${/[.!?\n]$/.test(text) ? '' : '.'} Allow it? Answer yes or no.`;
};

// Files that were restored

/** `files.rewound` in words. */
export function rewoundText({ restored, kept, more, failed, undoes }: DurableEvent<'files.rewound'>): string {
  const counted = restored.filter(({ path }) => !path.endsWith('/')).length || restored.length;
  const count = counted === 1 ? '1 file' : `${counted} files`;
  const what = undoes === undefined ? 'Rewound' : 'Undid a rewind of';
  const names = restored.map(
    ({ path, change }) => `${visibleLine(path)}${change === 'modified' ? '' : ` (${change})`}`,
  );
  return [
    restored.length === 0 ? 'No file was restored.' : `${what} ${count}: ${names.join(', ')}.`,
    ...kept.map(({ path, reason }) => `Kept ${visibleLine(path)}: ${reason}.`),
    ...(more === undefined ? [] : [`${more} more are not listed.`]),
    ...(failed === undefined ? [] : [failed]),
  ].join('\n');
}

// Project instructions

/** `instructions.changed` in words; null if nobody has to be told. */
export function instructionsText(event: DurableEvent<'instructions.changed'>): string | null {
  const unaccepted = unacceptedFiles(event);
  if (unaccepted.length === 0) return null;
  const names = unaccepted.map(({ path }) => visibleLine(path)).join(', ');
  return `Not followed, because nobody has accepted this content as instructions: ${names}.`;
}

// Retries: one message per call, for any number of attempts.

type Restarted = DurableEvent<'step.restarted'>;

/** Null for repeated attempts of the same call. */
export function restartText(event: Restarted): string | null {
  const { fallback, fault } = event;
  if (fallback) return `${fault.message} ${fallback.model} answers instead.`;
  return isFirst(event) ? `Trying again${where(event)}: ${fault.message}` : null;
}

/** For clients that show the answer while it is streamed. Null if there is nothing new to report. */
export function streamRestartText(event: Restarted): string | null {
  const { fallback, fault } = event;
  const tried = `${fault.message} ${fallback ? `${fallback.model} answers instead` : `Trying again${where(event)}`}`;
  if (fallback || isFirst(event))
    return event.shown ? `${tried}; the partial answer is discarded.` : `${tried}.`;
  return event.shown ? `${event.fault.message} The partial answer is discarded.` : null;
}

const isFirst = ({ attempt }: Restarted): boolean => attempt <= 2;

const where = ({ host, fault }: Restarted): string =>
  host === undefined || fault.message.includes(host) ? '' : ` at ${host}`;
