/** The first and last lines of a terminal conversation. */
import { currentTurn } from '@parlance/sdk';
import type { Connection } from '../connection/open.ts';
import { cut } from '../terminal/layout.ts';
import { safeLine } from '../terminal/safe-text.ts';
import type { Conversation } from './conversation.ts';
import type { Look } from './look.ts';

export function welcomeLines({ about, url }: Connection, { theme, width }: Look): string[] {
  const where = url ?? process.cwd();
  const text = `${safeLine(about.version)} · ${where} · /help lists the commands`;
  return [cut(`${theme.bold('Parlance')} ${theme.dim(text)}`, width)];
}

export function farewellLines(connection: Connection, { id, view }: Conversation, { theme }: Look): string[] {
  if (id === null) return [];
  const goesOn = connection.isEmbedded()
    ? 'The turn continues when a session is opened here again. '
    : 'The turn continues on the server. ';
  const running = currentTurn(view) ? goesOn : '';
  return ['', theme.dim(`${running}Continue with: parlance chat --session ${safeLine(id)}`)];
}
