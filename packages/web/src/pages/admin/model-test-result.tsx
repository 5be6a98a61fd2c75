/** The result of a test: the models to choose from, or what to do. */
import { Button } from '../../components/button.tsx';
import { Notice } from '../../components/notice.tsx';
import type { Tested } from './use-model-test.ts';

/** A few models can be chosen with a click; the field completes the others. */
const MAX_SHOWN = 12;

type TestResultProps = {
  readonly tested: Tested | null;
  readonly chosen: string;
  /** absent if the model is set at startup */
  readonly choose?: ((model: string) => void) | undefined;
  readonly saveAnyway: () => void;
};

export function TestResult({ tested, chosen, choose, saveAnyway }: TestResultProps) {
  if (tested === null || tested.state === 'testing') return null;
  const anyway = <Button onClick={saveAnyway}>Save anyway</Button>;
  if (tested.state === 'failed')
    return (
      <Notice variant="danger" action={tested.mayBeSaved && anyway}>
        {tested.problem}
      </Notice>
    );
  const { models } = tested.listing;
  return (
    <>
      {tested.problem !== null && (
        <Notice variant="danger" action={chosen.trim() !== '' && anyway}>
          {tested.problem}
        </Notice>
      )}
      <Notice variant="good">
        {models.length === 0
          ? 'Connected. The server lists no models. Enter a model name.'
          : `Connected. ${models.length} ${models.length === 1 ? 'model' : 'models'}:`}
        <span className="model-choices">
          {models.slice(0, MAX_SHOWN).map((model) => (
            <Button
              key={model}
              aria-pressed={model === chosen}
              disabled={choose === undefined}
              onClick={() => choose?.(model)}
            >
              {model}
            </Button>
          ))}
          {models.length > MAX_SHOWN && <span className="hint">more in the field above</span>}
        </span>
      </Notice>
    </>
  );
}
