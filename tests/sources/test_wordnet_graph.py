"""The noun graph: senses, names and ancestors, on the shipped nouns."""

from labelspace.sources._wordnet_graph import bare_form, shipped_graph


def test_names_and_ids_go_there_and_back() -> None:
    graph = shipped_graph()
    for lemma in ("cat", "dog", "truck", "crane"):
        for number, synset in enumerate(graph.senses_of(lemma), 1):
            assert graph.synset_at(int(graph.synset_id(synset)[1:])) == synset
            if graph.lemmas[graph.first_lemmas[synset]] == lemma:
                assert graph.synset_name(synset) == f"{lemma}.n.{number:02d}"
    assert graph.senses_of("no such noun") == []
    assert graph.synset_at(1) is None


def test_heights_grow_by_one_with_every_hypernym() -> None:
    graph = shipped_graph()
    heights = graph.heights_above(graph.senses_of("cat")[0])
    for synset, height in heights.items():
        assert all(heights[above] <= height + 1 for above in graph.hypernyms_of(synset))
        assert height == 0 or any(
            heights[below] == height - 1 for below in heights if synset in graph.hypernyms_of(below)
        )


def test_bare_forms() -> None:
    assert bare_form("T-Shirt / Café") == "tshirtcafe"
