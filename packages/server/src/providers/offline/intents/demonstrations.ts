/** Streams and failures on demand, for developers of clients. */
import { type Intent, type Plan, saying } from '../plan.ts';
import { shorten } from '../text/quote.ts';
import { storyAbout } from './story.ts';

const COUNT = /^count\s+(?:up\s+)?(?:from\s+(?:1|one)\s+)?to\s+([\d,._' ]+)$/i;
const STORY =
  /^(?:tell|write|give)\s+(?:me\s+|us\s+)?(?:a|another|one)\s+(?:(very\s+)?(long)\s+|short\s+|little\s+|nice\s+)*(?:story|tale|fairy\s+tale)(?:\s+about\s+(.+))?$/i;
const FAIL =
  /^(?:fail|crash|break|(?:simulate|cause|produce|trigger|show(?:\s+me)?|throw|raise)\s+(?:an?\s+|the\s+)?(?:\w+\s+)?(?:error|failure|fault|outage|exception))(?:\s+now)?$/i;
const HIGHEST = 10_000;

export const demonstrations: Intent = {
  name: 'demonstrations',
  match({ line }) {
    const number = COUNT.exec(line)?.[1];
    if (number !== undefined) return saying(counting(Number(number.replace(/[^\d]/g, ''))));
    const story = STORY.exec(line);
    if (story) return saying(storyAbout(shorten(story[3] ?? '', 60), story[2] !== undefined));
    return FAIL.test(line) ? FAILURE : null;
  },
};

function counting(last: number): string {
  if (last < 1) return 'I count from one upwards, so there is nothing to count here.';
  if (last > HIGHEST)
    return `I count to ${HIGHEST} at most. Ask me to “count to ${HIGHEST}” for the longest stream.`;
  return Array.from({ length: last }, (_, index) => index + 1).join(' ');
}

const FAILURE: Plan = {
  steps: [
    {
      title: 'fail',
      act: () => ({
        say: 'You asked for an error, so this answer will stop in the middle of',
        fault: {
          code: 'provider_unavailable',
          message: 'This failure was simulated on request by the offline model; nothing is wrong.',
        },
      }),
    },
  ],
};
