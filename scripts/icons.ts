/**
 * `npm run icons`: renders the logo, `packages/web/src/icon.svg`, as PNG files for the console and the
 * extension. Check them in after the logo has changed.
 */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { launchBrowser } from '../e2e/console/chromium.ts';

const PACKAGES = join(import.meta.dir, '../packages');

type Icon = { readonly path: string; readonly size: number; readonly maskable?: boolean };

const ICONS: readonly Icon[] = [
  { path: 'web/src/icon-192.png', size: 192 },
  { path: 'web/src/icon-512.png', size: 512 },
  { path: 'web/src/icon-maskable-512.png', size: 512, maskable: true },
  { path: 'web/src/icon-apple-180.png', size: 180, maskable: true },
  ...[16, 32, 48, 128].map((size) => ({ path: `extension/icons/${size}.png`, size })),
];

const logo = await Bun.file(join(PACKAGES, 'web/src/icon.svg')).text();
const tile = /fill="(#[0-9a-f]{6})"/.exec(logo)?.[1];
if (tile === undefined) throw new Error('the logo has no coloured tile');

const browser = await launchBrowser();
try {
  for (const icon of ICONS) await render(icon);
} finally {
  await browser.close();
}

/** A maskable icon has no rounded corners, and its symbol is within the inner four fifths. */
async function render({ path, size, maskable = false }: Icon): Promise<void> {
  const page = await browser.newPage({ viewport: { width: size, height: size } });
  const inner = maskable ? size * 0.86 : size;
  const background = maskable ? tile : 'transparent';
  await page.setContent(
    `<style>body{margin:0;display:grid;place-items:center;height:100vh;background:${background}}
     svg{display:block;width:${inner}px;height:${inner}px}</style>${logo}`,
  );
  mkdirSync(dirname(join(PACKAGES, path)), { recursive: true });
  await page.screenshot({ path: join(PACKAGES, path), omitBackground: true });
  await page.close();
  console.log(path);
}
