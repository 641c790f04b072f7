TITLES = {"bleu": "BLEU"}


def measures(found, answers):
    import sacrebleu

    return {"bleu": sacrebleu.corpus_bleu(found, [list(answers)]).score}


def signature():
    return "x"
