"""What several tests expect in the same words."""


def expect_problem(answer, name, status, retryable, new_key_safe):
    assert answer.status == status, answer
    assert answer.problem == name, answer
    document = answer.json()
    assert document["status"] == status
    assert document["type"] == f"/.well-known/stet/problems/{name}"
    assert document["title"] and document["detail"]
    assert document["retryable"] is retryable, document
    assert document["new_key_safe"] is new_key_safe, document
    return document
