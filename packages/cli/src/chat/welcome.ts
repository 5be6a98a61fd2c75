/** The first and last lines of a terminal conversation. */
import { currentTurn } from '@parlance/sdk';
import type { Connection } from '../connection/open.ts';
import { cut } from '../terminal/layout.ts';
import { safeLine } from '../terminal/safe-text.ts';
import type { Conversation } from './conversation.ts';
import type { RenderContext } from './render-context.ts';

export function welcomeLines({ about, url }: Connection, { theme, width }: RenderContext): string[] {
  const where = url ?? process.cwd();
  const text = `${safeLine(about.version)} · ${where} · /help lists the commands`;
  return [cut(`${theme.bold('Parlance')} ${theme.dim(text)}`, width)];
}

export function farewellLines(
  connection: Connection,
  { id, view }: Conversation,
  { theme }: RenderContext,
): string[] {
  if (id === null) return [];
  const continuesNote = connection.isEmbedded()
    ? 'The turn continues when a session is opened here again. '
    : 'The turn continues on the server. ';
  const running = currentTurn(view) ? continuesNote : '';
  return ['', theme.dim(`${running}Continue with: parlance chat --session ${safeLine(id)}`)];
}
