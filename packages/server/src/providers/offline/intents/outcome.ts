/** "… and summarise it": the last step after a request that fetches something. */
import { materialOf } from '../material.ts';
import type { Intent } from '../plan.ts';
import { readable } from '../result.ts';
import { summarise } from '../text/summary.ts';

const IT =
  /^(?:summari[sz]e|sum\s+up)\s+(?:it|this|that|them|the\s+(?:results?|output|contents?|file|findings))$/i;

export const outcome: Intent = {
  name: 'outcome',
  match({ line, single }, { earlier, turn }) {
    if (!single || !IT.test(line) || turn.material !== '') return null;
    return {
      steps: [
        {
          title: 'summarise the result',
          dependent: true,
          act: (done) => {
            const last = done.at(-1);
            const text = last ? readable(last) : materialOf(earlier)[0]?.text;
            if (text === undefined)
              return { say: 'There is nothing yet that I could summarise: send me a text.' };
            return { say: `In short: ${summarise(text)}` };
          },
        },
      ],
    };
  },
};
