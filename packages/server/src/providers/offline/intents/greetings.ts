/** Introduces itself. It never claims to be a language model. */
import { type Intent, saying } from '../plan.ts';

const HELLO =
  /^(?:hello|hi|hey|hiya|good\s+(?:morning|afternoon|evening|day)|greetings|hallo|bonjour|hola|salut)(?:\s+(?:there|again|parlance|agent|assistant|everyone|all|world))*$/i;
const WHO =
  /^(?:who|what)\s+are\s+you(?:\s+exactly)?$|^(?:who|what)\s+(?:am\s+i|are\s+we)\s+(?:talking|speaking|chatting)\s+(?:to|with)$|^are\s+you\s+(?:an?\s+)?(?:ai|a\.i|human|person|real|robot|bot|llm|language\s+model|model|program|chatgpt|gpt\S*|claude|gemini)\b.*$|^(?:what(?:'s|\s+is)\s+your\s+name|which\s+model\s+(?:are\s+you|is\s+this)|what\s+model\s+(?:are\s+you|is\s+this)|introduce\s+yourself)$/i;
const THANKS =
  /^(?:many\s+)?(?:thanks|thank\s+you|thx|cheers|great|perfect|nice|cool)(?:\s+(?:a\s+lot|so\s+much|very\s+much|you))*$/i;
const BYE = /^(?:bye|goodbye|good\s+bye|see\s+you|good\s+night)\b.{0,20}$/i;

export const IDENTITY =
  "I am Parlance's built-in offline model: a deterministic program, not a language model. I can run commands, read, search and edit files, drive a connected browser and summarise text, so that you can see everything work without a key – say “help” for the list.";

export const greetings: Intent = {
  name: 'greetings',
  match({ line, whole }) {
    if (HELLO.test(whole)) return saying(`Hello! ${IDENTITY}`);
    if (WHO.test(line)) return saying(IDENTITY);
    if (THANKS.test(line)) return saying('You are welcome. Say “help” to see what else I understand.');
    return BYE.test(line)
      ? saying('Goodbye! The conversation is kept, so we can go on whenever you like.')
      : null;
  },
};
