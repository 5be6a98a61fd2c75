/**
 * What the browser extension needs to read a page of 15,000 elements: processor time of the page's process, time on the clock,
 * and bytes sent. Prints the median and the range. `bun bench/extraction.ts [SNAPSHOTS]`; needs Chromium.
 */
import { launchBrowser } from '../e2e/console/chromium.ts';
import { pageOf } from '../packages/extension/src/report.ts';
import { openPage } from '../packages/extension/testing/driver.ts';
import { serveSite } from '../packages/extension/testing/site.ts';

const count = Number(process.argv[2] ?? 20);
const site = serveSite();
const browser = await launchBrowser();
const large = await openPage(browser, `${site.url}/large.html`);
const elements = await large.page.evaluate<number>('document.querySelectorAll("*").length');

const processor: number[] = [];
const clock: number[] = [];
let bytes = 0;
for (let index = 0; index < count; index++) {
  const began = performance.now();
  processor.push(
    await large.processorTime(async () => {
      bytes = new TextEncoder().encode(JSON.stringify(pageOf(await large.snapshot()))).length;
    }),
  );
  clock.push(performance.now() - began);
}

const spread = (times: number[]): string => {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number): number =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
  return `median ${at(0.5)} ms, ${at(0)} to ${at(1)} ms`;
};
console.log(`${elements} elements, ${count} snapshots`);
console.log(`processor time: ${spread(processor)} (goal: less than 150 ms)`);
console.log(`on the clock:   ${spread(clock)}`);
console.log(`sent:           ${(bytes / 1_000).toFixed(1)} KB (goal: less than 40 KB)`);
await browser.close();
site.stop();
