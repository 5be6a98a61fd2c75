import { describe, expect, test } from 'bun:test';
import { summarise } from './summary.ts';

const article = `Title: Solar power

Solar power turns sunlight into electricity. The weather was nice yesterday. Solar panels are made of
silicon cells, and each cell turns light into a small electric current. My neighbour has a dog.
Many solar panels together form a solar power station. Electricity from solar power has become cheap.
Some people prefer tea. Batteries store solar electricity for the night. A cat sat on the mat.`;

describe('a summary', () => {
  test('contains the most significant sentences, in their own order', () => {
    const summary = summarise(article);
    expect(summary).toContain('Solar power turns sunlight into electricity.');
    expect(summary).not.toContain('dog');
    expect(summary).not.toContain('Title:');
    const sentences = summary.match(/[^.]+\./g) ?? [];
    expect(sentences.length).toBeWithin(2, 6);
    const flat = article.replace(/\s+/g, ' ');
    const places = sentences.map((sentence) => flat.indexOf(sentence.trim()));
    expect(places.every((place) => place >= 0)).toBe(true);
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  test.each([
    ['nothing', '', 'There is no text to summarise.'],
    ['blanks', ' \n ', 'There is no text to summarise.'],
    ['only a title', 'Title: Tea\n', 'Tea'],
    ['one sentence', 'The sea is wide.', 'The sea is wide.'],
    ['no punctuation', 'just a few words', 'just a few words.'],
    ['one word', 'word', 'word.'],
  ])('of %s', (_, text, expected) => {
    expect(summarise(text)).toBe(expected);
  });

  test('of a list contains some of its items', () => {
    const items = [
      'apples are fruit',
      'pears are fruit',
      'plums are fruit',
      'cars are loud',
      'figs are fruit',
    ];
    const summary = summarise(items.map((item) => `- ${item}`).join('\n'));
    expect(summary).toContain('fruit');
    expect(summary.length).toBeLessThan(items.join(' ').length);
  });

  test('of Chinese text finds the sentences', () => {
    const summary = summarise(
      '太阳能是清洁能源。昨天下雨了。太阳能发电越来越便宜。猫很可爱。太阳能电池储存能源。狗在跑。风很大。',
    );
    expect(summary).toContain('太阳能');
    expect(summary.length).toBeLessThan(40);
  });

  test('of Arabic and Russian text works too', () => {
    expect(summarise('Море широкое. Море глубокое. В море живут рыбы. Шляпа новая.')).toContain('Море');
    expect(summarise('البحر واسع. البحر عميق؟ القبعة جديدة. البحر أزرق.')).toContain('البحر');
  });

  test('of a long text without a full stop is short', () => {
    expect(summarise('one two three four five six seven '.repeat(500)).length).toBeLessThan(2_100);
  });

  test('of a megabyte is short and consists of whole sentences', () => {
    const summary = summarise('The quick brown fox jumps over the lazy dog. '.repeat(23_000));
    expect(summary).toBe('The quick brown fox jumps over the lazy dog.');
  });
});
