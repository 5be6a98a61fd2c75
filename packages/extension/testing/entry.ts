/** The content script and the page's own script in one bundle, for tests without the extension. */
import { handle } from '../src/content/handle.ts';
import { catchNewTabs, listenToPage } from '../src/content/page-world.ts';
import { watchNetwork } from '../src/content/settle.ts';
import type { ContentRequest } from '../src/messages.ts';
import '../src/page-world/main.ts';

if (window === window.top) {
  listenToPage();
  watchNetwork();
  catchNewTabs();
  Object.assign(globalThis, {
    parlanceHandle: (request: ContentRequest) => handle(request, () => undefined),
  });
}
