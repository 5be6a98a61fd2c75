/** Streams and failures on demand, for developers of clients. */
import { answerPlan, type Intent, type Plan } from '../plan.ts';
import { shorten } from '../text.ts';
import { storyAbout } from './story.ts';

const COUNT = /^count\s+to\s+([\d,._' ]+)$/i;
const STORY = /^tell\s+(?:me\s+)?a\s+(long\s+)?story(?:\s+about\s+(.+))?$/i;
const FAIL = /^(?:fail|simulate\s+an?\s+(?:error|failure))$/i;
const MAX_COUNT = 10_000;

export const demonstrations: Intent = ({ line }) => {
  const number = COUNT.exec(line)?.[1];
  if (number !== undefined) return answerPlan(counting(Number(number.replace(/[^\d]/g, ''))));
  const story = STORY.exec(line);
  if (story) return answerPlan(storyAbout(shorten(story[2] ?? '', 60), story[1] !== undefined));
  return FAIL.test(line) ? FAILURE : null;
};

function counting(last: number): string {
  if (last < 1 || last > MAX_COUNT) return `I count from one to at most ${MAX_COUNT}.`;
  return Array.from({ length: last }, (_, index) => index + 1).join(' ');
}

const FAILURE: Plan = {
  steps: [
    {
      title: 'fail',
      run: () => ({
        text: 'You asked for an error, so this answer will stop in the middle of',
        fault: {
          code: 'provider_unavailable',
          message: 'This failure was simulated on request by the offline model; nothing is wrong.',
        },
      }),
    },
  ],
};
