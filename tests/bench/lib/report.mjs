// Rounds to ratios, ratios to a table.

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** What a table's cell shows of one number a round. */
export function spread(values) {
  return { ratio: median(values), lowest: Math.min(...values), highest: Math.max(...values) };
}

/**
 * `samples[row][target]` holds one number a round. A ratio is taken within its round, because the
 * machine's speed changes from one to the next; then comes the median.
 */
export function ratios(samples, yardstick) {
  const result = {};
  for (const [row, targets] of Object.entries(samples)) {
    result[row] = {};
    for (const [target, values] of Object.entries(targets)) {
      const pairs = values.map((value, round) => value / targets[yardstick][round]);
      result[row][target] = spread(pairs);
    }
  }
  return result;
}

export function table(results, targets) {
  const cell = (entry) =>
    entry ? `${entry.ratio.toFixed(2)} (${entry.lowest.toFixed(2)}-${entry.highest.toFixed(2)})` : '';
  const rows = [
    ['', ...targets],
    ...Object.entries(results).map(([row, of]) => [row, ...targets.map((target) => cell(of[target]))]),
  ];
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows
    .map((row) => row.map((text, column) => text.padEnd(widths[column])).join('  ').trimEnd())
    .join('\n');
}
