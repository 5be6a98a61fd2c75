/** "summarise: <text>", "summarise the conversation". */
import { digest } from '../digest.ts';
import { type Intent, saying } from '../plan.ts';
import { summarise } from '../text/summary.ts';

const GIVEN =
  /^(?:summari[sz]e|sum\s+up|tl;?dr)(?:\s+(?:this|the|following|my|text|passage|article|document|page|email|message|content|for me|in short))*\s*(?::|\n)\s*([\s\S]+)$/i;
const LONG = /^(?:summari[sz]e|sum\s+up)\s+([\s\S]{200,})$/i;
const TALK =
  /^(?:summari[sz]e\s+(?:the|this|our)\s+(?:conversation|chat|discussion)(?:\s+so\s+far)?|what\s+have\s+we\s+(?:talked|spoken)\s+about(?:\s+so\s+far)?)$/i;
const ABOUT_MATERIAL = /^(?:summari[sz]e|sum\s+up|tl;?dr)\b/i;

export const summaries: Intent = {
  name: 'summaries',
  match({ text, line }, { turn, earlier }) {
    if (turn.material.trim() !== '' && ABOUT_MATERIAL.test(line)) return saying(summarise(turn.material));
    const given = GIVEN.exec(text)?.[1] ?? LONG.exec(text)?.[1];
    if (given) return saying(summarise(given));
    if (!TALK.test(line)) return null;
    return saying(earlier.length === 0 ? 'This conversation has only just begun.' : digest(earlier, 1_500));
  },
};
