/** Answers the background worker. */
import type { ContentAnswers, ContentReply, ContentRequest } from '../messages.ts';
import { forgetDialogs } from './actions/dialogs.ts';
import { noteOpenedDialogs, perform } from './actions/perform.ts';
import { rootsIn } from './dom/flat-tree.ts';
import { isSecret } from './dom/secrets.ts';
import { drawNumbers, hideIndicator, indicate } from './indicator.ts';
import { inspect, inspectTool } from './inspect.ts';
import { forgetNumbers, numbersInView } from './numbers.ts';
import { PageFailure, pageError } from './page-error.ts';
import { sendToPage } from './page-world.ts';
import { settle } from './settle.ts';
import { takeSnapshot } from './snapshot/snapshot.ts';
import { runTool } from './tools.ts';

/** The worker knows addresses of its own server. The console says itself what it is, under any name and of any server. */
const isConsole = (): boolean =>
  document.querySelector('meta[name="application-name"][content="Parlance"]') !== null;
const CONSOLE =
  'This page is the console of a Parlance server. Browser tools and tasks never read or use it: only the user works there.';

/** `stop` is called when the user presses the button of the indicator. */
export async function handle(request: ContentRequest, stop: () => void): Promise<ContentReply> {
  try {
    if (isConsole()) throw new PageFailure('UNSUPPORTED', CONSOLE);
    return { ok: true, value: await answer(request, stop) };
  } catch (thrown) {
    return { ok: false, error: pageError(thrown) };
  }
}

async function answer(
  request: ContentRequest,
  stop: () => void,
): Promise<ContentAnswers[ContentRequest['kind']]> {
  switch (request.kind) {
    case 'ping':
      return { ready: true };
    case 'attach':
      sendToPage({ type: 'active', on: true });
      return null;
    case 'snapshot':
      return takeSnapshot();
    case 'inspect':
      return await inspect(request.action);
    case 'inspect-tool':
      return await inspectTool(request.tool, request.parameters);
    case 'act':
      return await perform(request.action);
    case 'settle': {
      const seen = await settle(request.maxMs);
      noteOpenedDialogs();
      return seen;
    }
    case 'tool':
      return await runTool(request.tool, request.parameters);
    case 'conceal':
      conceal(request.on);
      return null;
    case 'draw-numbers':
      return drawNumbers(request.on ? numbersInView() : []);
    case 'indicate':
      indicate(request.text, stop);
      return null;
    case 'release':
      sendToPage({ type: 'active', on: false });
      indicate(null, stop);
      forgetNumbers();
      forgetDialogs();
      return null;
  }
}

// Hides the values of secret fields, and the indicator, while a picture of the page is taken.

/** The styles that fields had before. */
const concealed = new Map<HTMLElement, string | null>();

function conceal(on: boolean): void {
  hideIndicator(on);
  if (on) for (const root of rootsIn(document)) hideIn(root);
  else restore();
}

function hideIn(root: Document | ShadowRoot): void {
  for (const field of root.querySelectorAll<HTMLElement>('input, textarea')) {
    if (concealed.has(field) || !isSecret(field)) continue;
    concealed.set(field, field.getAttribute('style'));
    field.style.setProperty('-webkit-text-security', 'disc', 'important');
  }
}

function restore(): void {
  for (const [field, style] of concealed)
    if (style === null) field.removeAttribute('style');
    else field.setAttribute('style', style);
  concealed.clear();
}
