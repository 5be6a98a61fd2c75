/** Finds the most recently changed session. */
import { CommandError } from './command-error.ts';
import type { Connection } from './connection/open.ts';

export async function recentSession({ parlance, about }: Connection): Promise<string> {
  // Admins also see sessions of other users.
  for await (const { id, owner } of parlance.sessions.all({ limit: 50 }))
    if (owner === about.principal.id) return id;
  throw new CommandError('there is no session to continue', 1);
}
