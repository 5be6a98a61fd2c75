/** The tools of an agent: all, or those that are selected. */
import { useState } from 'react';

type ToolChoiceProps = {
  /** undefined: all */
  readonly chosen: readonly string[] | undefined;
  readonly tools: readonly { readonly name: string; readonly description: string }[];
};

/** The fields `tools` (`all` or `some`) and `tool`. */
export function ToolChoice({ chosen, tools }: ToolChoiceProps) {
  const [isLimited, setLimited] = useState(chosen !== undefined);
  // Tools of an MCP server that is not running stay selected.
  const missing = chosen?.filter((name) => !tools.some((tool) => tool.name === name)) ?? [];
  const offered = [...tools, ...missing.map((name) => ({ name, description: 'Not available now' }))];
  return (
    <>
      <label className="field">
        Tools
        <select
          name="tools"
          value={isLimited ? 'some' : 'all'}
          onChange={({ target }) => setLimited(target.value === 'some')}
        >
          <option value="all">All tools</option>
          <option value="some">Only selected tools</option>
        </select>
      </label>
      {isLimited && (
        <fieldset className="field checkboxes">
          <legend>Selected tools</legend>
          {offered.map(({ name, description }) => (
            <label key={name} title={description}>
              <input type="checkbox" name="tool" value={name} defaultChecked={chosen?.includes(name)} />{' '}
              {name}
            </label>
          ))}
        </fieldset>
      )}
    </>
  );
}

/** Undefined for all. */
export const toolsIn = (fields: FormData): readonly string[] | undefined =>
  fields.get('tools') === 'some' ? fields.getAll('tool').map(String) : undefined;
