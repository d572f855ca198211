"""Operations on whole tensors: reductions, scans, gathers, views, changes of layout."""
