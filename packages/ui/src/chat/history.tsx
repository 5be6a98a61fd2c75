/** A conversation that the session took over from elsewhere. */
import type { HistoryItem } from '@parlance/protocol';
import type { HistoryView } from '@parlance/sdk';
import { Chip } from '../components/chip.tsx';
import { Markdown } from '../markdown/markdown.tsx';
import { Collapsible } from './collapsible.tsx';
import { Parts } from './parts.tsx';

export function History({ entry }: { entry: HistoryView }) {
  const { items, dialect, seqs } = entry;
  return items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the items of an entry never change
    <ItemView key={index} name={`history ${seqs[0]} ${index}`} item={item} dialect={dialect} />
  ));
}

type ItemProps = { readonly name: string; readonly item: HistoryItem; readonly dialect: string };

function ItemView({ name, item, dialect }: ItemProps) {
  switch (item.type) {
    case 'user':
      return (
        <div className="said">
          <div className="said-bubble">
            <Parts parts={item.parts} text="plain" />
          </div>
          <div className="said-under">
            <Chip title="From before this session">imported via {dialect}</Chip>
          </div>
        </div>
      );
    case 'system':
      return (
        <Collapsible name={name} icon="thought" className="reasoning" summary="System message">
          <Markdown text={item.text} />
        </Collapsible>
      );
    case 'text':
      return <Markdown text={item.text} />;
    case 'reasoning':
      return (
        <Collapsible name={name} icon="thought" className="reasoning" summary="Thought">
          <Markdown text={item.text} />
        </Collapsible>
      );
    case 'call':
      return (
        <Collapsible name={name} icon="tool" className="reasoning" summary={`Called ${item.tool}`}>
          <Parts parts={[{ type: 'text', text: JSON.stringify(item.input, null, 2) }]} text="output" />
        </Collapsible>
      );
    case 'result':
      return (
        <Collapsible
          name={name}
          icon="tool"
          className="reasoning"
          summary={item.failed ? 'The call failed' : 'Result of the call'}
        >
          <Parts parts={item.parts} text="output" />
        </Collapsible>
      );
  }
}
