"use strict";
// The target of one class by strength.

prepare.set("targets", ({ rows, start }) => {
  choose(
    element("targets-space"),
    rows.map((space, place) => [place, space.title]),
  );
  choose(
    element("targets-class"),
    data.names.map((name, index) => [index, name]),
  );
  const slider = element("targets-strength");
  slider.value = start;
  const order = classOrder();
  const draw = () => {
    const strength = Number(slider.value);
    element("targets-value").textContent = strength.toFixed(2);
    const space = rows[element("targets-space").value];
    const index = Number(element("targets-class").value);
    show(element("figure-target"), targetFigure(space, index, strength, data.names, order, palette()));
  };
  whenChanged(["targets-space", "targets-class", "targets-strength"], draw);
  whenSeen("targets", draw);
});

function targetOf(space, index, strength) {
  const own = 1 - strength + strength * space.own[index];
  const others = space.classes[index]
    .map((other, place) => ({ index: other, value: strength * space.weights[index][place] }))
    .filter((part) => part.index !== index);
  return { own, others, rest: Math.max(0, 1 - own - others.reduce((sum, part) => sum + part.value, 0)) };
}

function targetFigure(space, index, strength, names, order, palette) {
  const target = targetOf(space, index, strength);
  const all = names.length <= 40;
  const parts = [{ index, value: target.own }, ...target.others];
  if (all) parts.sort((a, b) => order.indexOf(a.index) - order.indexOf(b.index));
  const bars = parts.map((part) => ({
    name: plain(shortened(names[part.index], 18)),
    full: plain(names[part.index]),
    value: part.value,
    colour: part.index === index ? palette.accent : palette.soft,
  }));
  if (!all) bars.push({ name: "all others", full: "all others", value: target.rest, colour: palette.faint });
  const places = bars.map((_, place) => place);
  const values = bars.map((bar) => bar.value);
  const ticks = {
    tickvals: places,
    ticktext: bars.map((bar) => bar.name),
    showgrid: false,
    automargin: true,
    ticks: "",
    fixedrange: true,
    tickfont: { size: 11, color: palette.ink },
    zeroline: false,
  };
  const weight = axis(palette, "weight", { range: [0, 1], fixedrange: true });
  const traces = [
    {
      type: "bar",
      orientation: all ? "v" : "h",
      x: all ? places : values,
      y: all ? values : places,
      marker: { color: bars.map((bar) => bar.colour) },
      customdata: bars.map((bar) => bar.full),
      hovertemplate: `<b>%{customdata}</b>: %{${all ? "y" : "x"}:.4f}<extra></extra>`,
    },
  ];
  const layout = baseLayout(palette, {
    height: all ? 320 : 440,
    bargap: 0.25,
    dragmode: false,
    margin: { l: 48, r: 12, t: 12, b: 30 },
    xaxis: all ? ticks : weight,
    yaxis: all ? weight : { ...ticks, range: [bars.length - 0.4, -0.6] },
  });
  return { traces, layout };
}
