/** `parlance sessions`: lists and searches sessions. */
import type { Session } from '@parlance/sdk';
import { CommandError, parseFlags, SWITCH, TEXT } from '../command.ts';
import { SERVER_FLAGS, SERVER_HELP } from '../connection/address.ts';
import { connectionError } from '../connection/open.ts';
import { ago, listSessions, type SessionsQuery } from '../connection/session-list.ts';
import { columns } from '../terminal/layout.ts';
import { safeLine } from '../terminal/safe-text.ts';

const USAGE = `Usage: parlance sessions [TEXT]

Lists sessions, the last changed first. With TEXT: those whose title contains it.

  --status STATUS  idle, running, waiting (for an answer, or for sub-agents or clients) or failed
  --archived       archived sessions, too
  --limit COUNT    at most so many, 50 by default; 0: all
  --json           one session per line

${SERVER_HELP}

Without a running server, the sessions in the data folder are listed.`;

const STATUSES = ['idle', 'running', 'waiting', 'failed'] as const;

export async function sessions(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseFlags(argv, {
    ...SERVER_FLAGS,
    json: SWITCH,
    archived: SWITCH,
    status: TEXT,
    limit: TEXT,
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const query: SessionsQuery = {
    text: positionals.join(' '),
    status: statusFrom(values.status),
    isArchived: values.archived ?? false,
    limit: limitFrom(values.limit),
  };
  const found = await listSessions(values, query).catch((error: unknown) => {
    throw connectionError(error, 'the server');
  });
  if (values.json) for (const session of found) console.log(JSON.stringify(session));
  else console.log(found.length === 0 ? 'no sessions' : table(found));
  return 0;
}

function statusFrom(text: string | undefined): Session['status'] | undefined {
  const found = STATUSES.find((status) => status === text);
  if (text === undefined || found) return found;
  throw new CommandError(`--status must be one of ${STATUSES.join(', ')}, not "${text}"`, 2);
}

function limitFrom(text = '50'): number {
  const limit = Number(text);
  if (/^\d{1,6}$/.test(text)) return limit === 0 ? Number.POSITIVE_INFINITY : limit;
  throw new CommandError(`--limit must be a number, not "${text}"`, 2);
}

/** For terminals of any width, the title comes last. */
function table(found: readonly Session[]): string {
  const rows = found.map(({ id, status, waitsFor, updatedAt, dialect, lastModel = '', title }) => [
    id,
    waitsFor === 'work' ? 'waiting (for sub-agents or clients)' : status,
    ago(updatedAt),
    dialect,
    lastModel,
    title,
  ]);
  return columns([
    ['ID', 'STATUS', 'CHANGED', 'FROM', 'MODEL', 'TITLE'],
    ...rows.map((row) => row.map(safeLine)),
  ]);
}
